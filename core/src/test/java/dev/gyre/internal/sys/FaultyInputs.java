package dev.gyre.internal.sys;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// The real calls of files and sockets, except for those that are refused; records their names.
public final class FaultyInputs {
    private final FileCalls files = recording(FileCalls.class, new LinuxFileCalls());
    private final SocketCalls sockets = recording(SocketCalls.class, new LinuxSocketCalls());
    private final Map<String, Integer> refusals = new HashMap<>();
    private final List<String> calls = new ArrayList<>();

    /// All calls of that name return `-errno` and do not reach the kernel.
    public FaultyInputs refuse(String call, int errno) {
        refusals.put(call, errno);
        return this;
    }

    public List<String> calls() {
        return calls;
    }

    /// These calls, together with a kernel.
    public SyscallFactories with(Supplier<? extends PollCalls> kernels) {
        return new SyscallFactories(kernels, () -> sockets, () -> files);
    }

    private <T> T recording(Class<T> type, T real) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) -> {
                            calls.add(method.getName());
                            Integer errno = refusals.get(method.getName());
                            if (errno == null) {
                                return method.invoke(real, arguments);
                            }
                            return method.getReturnType() == int.class
                                    ? (Object) (-errno)
                                    : (Object) (-errno.longValue());
                        }));
    }
}
