package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;

import java.lang.foreign.MemorySegment;

/// The real kernel's calls for signals, through libc.
public final class LinuxSignalCalls implements SignalCalls {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Signalfd {
        static final CFunction CREATE = intFunction("signalfd");
    }

    private static final class Sigmask {
        static final CFunction CALL = intFunction("pthread_sigmask");
    }

    @Override
    public int signalfd(int fd, long setAddress, int flags) {
        return (int) Signalfd.CREATE.call(captured, fd, setAddress, flags);
    }

    @Override
    public int pthreadSigmask(int how, long setAddress, long oldSetAddress) {
        return -(int) Sigmask.CALL.call(captured, how, setAddress, oldSetAddress);
    }
}
