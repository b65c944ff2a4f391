package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.internal.sys.SignalCalls.SignalSet;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

/// Finds the signals that every thread of the process blocks. Only those can be read from a
/// signalfd: the kernel delivers any other to a thread that does not block it.
///
/// A program started with a signal blocked keeps it blocked, because threads inherit the mask of
/// the thread that starts them. HotSpot unblocks the signals that it uses itself, and SIGHUP,
/// SIGINT and SIGTERM unless it runs with -Xrs.
///
/// Sets of signals are in the kernel's form: bit `n - 1` for signal `n`.
public final class BlockedSignals {
    private static final String FIELD = "SigBlk:";

    private final Supplier<? extends SignalCalls> calls;
    private final @Nullable Path threads;

    /// @param threads the directory with a subdirectory per thread, `/proc/self/task`; `null` for a
    ///     simulated process, which has one thread
    public BlockedSignals(Supplier<? extends SignalCalls> calls, @Nullable Path threads) {
        this.calls = calls;
        this.threads = threads;
    }

    static long bit(Signal signal) {
        return 1L << (signal.number() - 1);
    }

    static long bits(Collection<Signal> signals) {
        long bits = 0;
        for (Signal signal : signals) {
            bits |= bit(signal);
        }
        return bits;
    }

    static Set<Signal> signals(long bits) {
        Set<Signal> signals = EnumSet.noneOf(Signal.class);
        for (Signal signal : Signal.values()) {
            if ((bits & bit(signal)) != 0) {
                signals.add(signal);
            }
        }
        return signals;
    }

    /// Returns those of the given signals that all threads block now.
    long among(long signals) {
        // Few JVMs are started with signals blocked. Then the mask of this thread decides, and no
        // file per thread has to be read.
        long blocked = signals & ofThisThread();
        Path others = threads;
        return blocked == 0 || others == null ? blocked : blocked & ofAllThreads(others, blocked);
    }

    private long ofThisThread() {
        SignalSet set = new SignalSet(0);
        int result = calls.get().pthreadSigmask(Linux.SIG_BLOCK, 0, set.address());
        Errno.require("pthread_sigmask", result, SystemCallException.NO_FD);
        return set.bits();
    }

    private static long ofAllThreads(Path threads, long signals) {
        long blocked = signals;
        try (DirectoryStream<Path> each = Files.newDirectoryStream(threads)) {
            for (Path thread : each) {
                blocked &= ofThread(thread.resolve("status"));
            }
        } catch (IOException e) {
            // A wrong guess would lose signals silently, or end the process with the first one.
            throw new IllegalStateException(
                    "cannot determine whether every thread blocks "
                            + signals(signals)
                            + ": "
                            + threads
                            + " is not readable; mount /proc, or start the JVM with none blocked",
                    e);
        }
        return blocked;
    }

    private static long ofThread(Path status) throws IOException {
        try {
            // Latin-1: the file also has the thread's name, truncated at any byte.
            for (String line : Files.readAllLines(status, StandardCharsets.ISO_8859_1)) {
                if (line.startsWith(FIELD)) {
                    return Long.parseUnsignedLong(line.substring(FIELD.length()).strip(), 16);
                }
            }
            throw new IOException(status + " has no line " + FIELD);
        } catch (IOException e) {
            if (Files.notExists(status)) {
                return -1; // The thread has ended and receives no signal.
            }
            throw e;
        }
    }
}
