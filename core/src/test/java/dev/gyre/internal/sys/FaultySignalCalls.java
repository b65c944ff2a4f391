package dev.gyre.internal.sys;

import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/// The real signal calls with injected faults, by the plan of a [FaultyKernel].
public final class FaultySignalCalls implements SignalCalls {
    private final SignalCalls real = new LinuxProcessCalls();
    private final FaultyKernel.Plan plan;

    public FaultySignalCalls(FaultyKernel.Plan plan) {
        this.plan = plan;
    }

    private int call(String name, IntSupplier really) {
        LongSupplier fault = plan.next(name, -1);
        return fault == null ? really.getAsInt() : (int) fault.getAsLong();
    }

    @Override
    public int signalfd(int fd, long setAddress, int flags) {
        return plan.opened(call("signalfd", () -> real.signalfd(fd, setAddress, flags)));
    }

    @Override
    public int pthreadSigmask(int how, long setAddress, long oldSetAddress) {
        return call("pthread_sigmask", () -> real.pthreadSigmask(how, setAddress, oldSetAddress));
    }
}
