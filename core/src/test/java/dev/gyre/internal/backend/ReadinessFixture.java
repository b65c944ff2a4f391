package dev.gyre.internal.backend;

import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.BeforeEach;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A scripted kernel for [ReadinessOperations]: records the calls and the armed interest, and the
/// order in which requests complete. Epoll represents all kernels that report readiness.
@On("epoll")
abstract class ReadinessFixture {
    static final int FD = 5;
    static final int LENGTH = 8;
    static final int EDGE = Readiness.EDGE | Readiness.END;

    /// The next results by call; without one, a call would block.
    final Map<String, Deque<Long>> results = new HashMap<>();

    final List<String> calls = new ArrayList<>();
    final List<String> armed = new ArrayList<>();
    private final Map<Request, String> names = new HashMap<>();
    int socketError;
    int armingErrno;
    ReadinessOperations operations;
    DescriptorState socket;

    @BeforeEach
    void open() {
        open(4, Traits.TCP);
    }

    void open(int receiveBuffers, int traits) {
        LoopConfig config = LoopConfig.DEFAULT.withReceiveBuffers(receiveBuffers, 4_096);
        LoopContext context =
                new TestLoopContext(config) {
                    @Override
                    public boolean trySubmitPriority(Runnable task) {
                        throw new AssertionError("no files here");
                    }
                };
        InvocationHandler kernel = (_, method, arguments) -> call(method.getName(), arguments);
        PollCalls files = as(PollCalls.class, kernel);
        SocketCalls sockets = as(SocketCalls.class, kernel);
        FileCalls none = as(FileCalls.class, kernel);
        Backend backend =
                as(
                        Backend.class,
                        (_, method, arguments) -> {
                            boolean off = method.getName().equals("deregister");
                            armed.add(method.getName() + (off ? "" : " " + arguments[1]));
                            if (armingErrno != 0 && !off) {
                                throw new SystemCallException("epoll_ctl", armingErrno, FD);
                            }
                            return null;
                        });
        operations =
                new ReadinessOperations(
                        backend,
                        new SyscallFactories(() -> files, () -> sockets, () -> none),
                        context);
        socket = operations.open(FD, traits);
    }

    private static <T> T as(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Object call(String name, Object[] arguments) {
        if (name.equals("getsockopt")) {
            Memory.putInt((long) arguments[3], socketError);
            calls.add("error");
            return 0;
        }
        boolean urgent = name.equals("recv") && ((int) arguments[3] & Linux.MSG_OOB) != 0;
        String known = urgent ? "urgent" : name;
        calls.add(known);
        Deque<Long> scripted = results.getOrDefault(known, new ArrayDeque<>());
        long result = scripted.isEmpty() ? -Errno.EAGAIN : scripted.remove();
        return name.equals("accept4") ? (Object) (int) result : (Object) result;
    }

    void returns(String call, long... scripted) {
        Deque<Long> queue = results.computeIfAbsent(call, _ -> new ArrayDeque<>());
        for (long result : scripted) {
            queue.add(result);
        }
    }

    Request request(Opcode opcode, String name) {
        Request request = new Request(_ -> {});
        request.opcode = opcode;
        request.length = LENGTH;
        names.put(request, name);
        return request;
    }

    Request start(Opcode opcode, String name) {
        Request request = request(opcode, name);
        operations.start(socket, request);
        return request;
    }

    Request startEach(String name) {
        Request request = request(Opcode.RECEIVE, name);
        request.multishot = true;
        operations.start(socket, request);
        return request;
    }

    /// Dequeues the completed requests, in order.
    List<String> completed() {
        List<String> all = new ArrayList<>();
        for (Request done = operations.pollCompleted(); done != null; ) {
            long result = done.result;
            String outcome = result < 0 ? Errno.name((int) -result) : Long.toString(result);
            all.add(names.get(done) + " " + outcome + (done.more ? " more" : ""));
            done = operations.pollCompleted();
        }
        return all;
    }
}
