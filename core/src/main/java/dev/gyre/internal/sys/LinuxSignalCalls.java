package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real kernel's calls for signals, through libc.
public final class LinuxSignalCalls implements SignalCalls {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Signalfd {
        static final MethodHandle CREATE =
                link("signalfd", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    }

    private static final class Sigmask {
        static final MethodHandle CALL =
                link("pthread_sigmask", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    @Override
    public int signalfd(int fd, long setAddress, int flags) {
        try {
            int returned = (int) Signalfd.CREATE.invokeExact(captured, fd, setAddress, flags);
            return Linkage.result(captured, returned);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int pthreadSigmask(int how, long setAddress, long oldSetAddress) {
        try {
            return -(int) Sigmask.CALL.invokeExact(captured, how, setAddress, oldSetAddress);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }
}
