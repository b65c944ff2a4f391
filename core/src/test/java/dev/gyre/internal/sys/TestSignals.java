package dev.gyre.internal.sys;

import dev.gyre.internal.sys.SignalCalls.SignalSet;
import dev.gyre.os.Signal;

import java.lang.foreign.MemorySegment;

/// Sends signals to this process, and blocks them in this thread. Send only signals with a
/// subscription, or without a default action: most others end the process.
public final class TestSignals {
    private static final int SIG_SETMASK = 2;

    private static final CFunction KILL = Linkage.intFunction("kill");
    private static final CFunction RAISE = Linkage.intFunction("raise");

    private TestSignals() {}

    /// Sends a signal to this process as a whole.
    public static void send(Signal signal) {
        send(ProcessHandle.current().pid(), signal);
    }

    /// Sends a signal to any process.
    public static void send(long pid, Signal signal) {
        MemorySegment captured = Linkage.newCapture();
        require((int) KILL.call(captured, pid, signal.number()), "kill", signal);
    }

    /// Sends a signal to the calling thread only.
    public static void raise(Signal signal) {
        MemorySegment captured = Linkage.newCapture();
        require((int) RAISE.call(captured, signal.number()), "raise", signal);
    }

    /// Blocks the signal in the calling thread until the result is closed there.
    public static Unblocking block(Signal signal) {
        SignalSet added = new SignalSet(1L << (signal.number() - 1));
        SignalSet before = new SignalSet(0);
        mask(Linux.SIG_BLOCK, added, before.address());
        return () -> mask(SIG_SETMASK, before, 0);
    }

    /// Undoes [#block].
    public interface Unblocking extends AutoCloseable {
        @Override
        void close();
    }

    private static void mask(int how, SignalSet set, long oldAddress) {
        int result = new LinuxProcessCalls().pthreadSigmask(how, set.address(), oldAddress);
        require(result, "pthread_sigmask", set.bits());
    }

    private static void require(int result, String call, Object what) {
        if (result != 0) {
            throw new AssertionError(call + " of " + what + " failed: " + result);
        }
    }
}
