package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.internal.sys.SignalSet;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/// Which signals every thread of the process blocks. Only those can be had by a descriptor: any
/// other goes to the first thread that lets it in.
///
/// A program that was started with a signal blocked keeps it so, for threads get the mask of the
/// thread that starts them. HotSpot makes exceptions for what it needs itself, and for SIGHUP,
/// SIGINT and SIGTERM unless it runs with -Xrs.
public final class BlockedSignals {
    private static final String FIELD = "SigBlk:";

    private final Supplier<? extends SignalCalls> calls;
    private final @Nullable Path threads;

    /// @param threads the directory with one for each thread, `/proc/self/task`
    public BlockedSignals(Supplier<? extends SignalCalls> calls, Path threads) {
        this.calls = calls;
        this.threads = threads;
    }

    private BlockedSignals(Supplier<? extends SignalCalls> calls) {
        this.calls = calls;
        threads = null;
    }

    /// For a world that has but one thread.
    static BlockedSignals ofOneThread(Supplier<? extends SignalCalls> calls) {
        return new BlockedSignals(calls);
    }

    /// Those of the given signals that all threads block now.
    long among(long signals) {
        // Hardly any JVM is started with something blocked: then this thread knows already, and
        // nobody has to read a file for each of a thousand threads.
        long blocked = signals & ofThisThread();
        Path others = threads;
        return blocked == 0 || others == null ? blocked : blocked & ofAllThreads(others, blocked);
    }

    private long ofThisThread() {
        SignalSet set = new SignalSet(0);
        int result = calls.get().pthreadSigmask(Linux.SIG_BLOCK, 0, set.address());
        if (result < 0) {
            throw new SystemCallException("pthread_sigmask", -result, SystemCallException.NO_FD);
        }
        return set.bits();
    }

    private static long ofAllThreads(Path threads, long signals) {
        long blocked = signals;
        try (DirectoryStream<Path> each = Files.newDirectoryStream(threads)) {
            for (Path thread : each) {
                blocked &= ofThread(thread.resolve("status"));
            }
        } catch (IOException e) {
            // Either guess could lose signals without a word, or end the process with the first.
            throw new IllegalStateException(
                    "cannot tell whether every thread blocks "
                            + SignalBits.signals(signals)
                            + ": "
                            + threads
                            + " is not readable; mount /proc, or start the JVM with none blocked",
                    e);
        }
        return blocked;
    }

    private static long ofThread(Path status) throws IOException {
        try {
            // Latin-1: a thread's name stands there too, cut off anywhere.
            for (String line : Files.readAllLines(status, StandardCharsets.ISO_8859_1)) {
                if (line.startsWith(FIELD)) {
                    return Long.parseUnsignedLong(line.substring(FIELD.length()).strip(), 16);
                }
            }
            throw new IOException(status + " has no line " + FIELD);
        } catch (IOException e) {
            if (Files.notExists(status)) {
                return -1; // The thread ended meanwhile, and takes no signal any more.
            }
            throw e;
        }
    }
}
