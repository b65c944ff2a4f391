package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.base.Log;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.Supplier;

/// The open-file limit of a process: its value, the reserved descriptor numbers, and whether they
/// have run out.
///
/// **Reserve.** The kernel allocates the lowest free number. A listener sheds connections with a
/// number in the last tenth below the limit. Those numbers stay available for files and outgoing
/// connections.
///
/// **Episodes.** Exhaustion is logged once, with the limit and the remedy, and so is the recovery.
/// One acquired descriptor is not a recovery, as connections come and go at the limit. An episode
/// ends after five seconds without a refusal.
///
/// **Threads.** Any.
public final class DescriptorLimit {
    /// The open-file limit as the kernel reports it; -1 in both places if it does not.
    ///
    /// @param current the limit in force
    /// @param hard the maximum to which the process may raise it
    public record OpenFiles(long current, long hard) {}

    private static final int RESERVED_SHARE = 10;
    private static final int MAX_RESERVED = 512;
    private static final long QUIET_NANOS = Duration.ofSeconds(5).toNanos();
    private static final int UNKNOWN = -1;

    private final Supplier<? extends PollCalls> kernels;

    // Shared: any thread that sees a changed limit writes it.
    private volatile int firstReserved = UNKNOWN;
    private volatile int reserved;

    // Shared: read for every acquired descriptor.
    private volatile boolean exhausted;

    // Guarded by this.
    private long sinceNanos;
    private long lastNanos;
    private long shed;

    DescriptorLimit(Supplier<? extends PollCalls> kernels) {
        this.kernels = kernels;
    }

    /// Returns whether this number is reserved for files and outgoing connections.
    public boolean isReserved(int fd) {
        if (fd < firstReserved) {
            return false;
        }
        read(); // The limit may have been raised since.
        return fd >= firstReserved;
    }

    /// Returns whether this many further connections could reach the reserve.
    ///
    /// @param fd the most recently allocated number
    public boolean isWithin(int connections, int fd) {
        if (firstReserved == UNKNOWN) {
            read();
        }
        return fd >= firstReserved - connections;
    }

    /// Returns the open-file limit of this process. It comes from the kernel, because `/proc`
    /// cannot be opened once descriptors have run out.
    public static OpenFiles openFiles() {
        return openFiles(new LinuxPollCalls());
    }

    private static OpenFiles openFiles(PollCalls kernel) {
        MemorySegment rlimit = Memory.allocate(Linux.SIZEOF_RLIMIT);
        int result = kernel.getrlimit(Linux.RLIMIT_NOFILE, rlimit.address());
        // Reading the segment keeps it alive during the call.
        return result == 0
                ? new OpenFiles(rlimit.get(JAVA_LONG, 0), rlimit.get(JAVA_LONG, Long.BYTES))
                : new OpenFiles(-1, -1);
    }

    private void read() {
        long limit = openFiles(kernels.get()).current();
        boolean bounded = limit > 0 && limit < Integer.MAX_VALUE;
        int kept = bounded ? (int) Math.min(limit / RESERVED_SHARE, MAX_RESERVED) : 0;
        reserved = kept;
        firstReserved = bounded ? (int) limit - kept : Integer.MAX_VALUE;
    }

    /// Records a call that failed for lack of descriptors or kernel memory.
    ///
    /// @param what the failed action, for the log
    /// @return whether an episode begins with it
    public boolean refused(String what, int errno, long nowNanos) {
        synchronized (this) {
            lastNanos = nowNanos;
            if (exhausted) {
                return false;
            }
            exhausted = true;
            sinceNanos = nowNanos;
            shed = 0;
        }
        read();
        String remedy = remedy(errno);
        JfrEvents.exhausted(remedy);
        Log.LOG.log(System.Logger.Level.WARNING, what + ": " + remedy);
        return true;
    }

    public synchronized void shed(int connections) {
        shed += connections;
    }

    public void acquired(long nowNanos) {
        if (exhausted) {
            endIfQuiet(nowNanos);
        }
    }

    private void endIfQuiet(long nowNanos) {
        Duration elapsed;
        long closed;
        synchronized (this) {
            if (!exhausted || nowNanos - lastNanos < QUIET_NANOS) {
                return;
            }
            exhausted = false;
            elapsed = Duration.ofNanos(nowNanos - sinceNanos);
            closed = shed;
        }
        JfrEvents.recovered(elapsed, closed);
        Log.LOG.log(
                System.Logger.Level.INFO,
                "Descriptors are available again, "
                        + elapsed.toSeconds()
                        + " s after they ran out; connections shed meanwhile: "
                        + closed);
    }

    private String remedy(int errno) {
        String name = Errno.name(errno);
        return switch (errno) {
            case Errno.EMFILE ->
                    name
                            + ", the process is at its limit of "
                            + ((long) firstReserved + reserved)
                            + " open files, "
                            + reserved
                            + " of which are kept for files and outgoing connections. Raise the"
                            + " limit (ulimit -n, LimitNOFILE= in systemd) or lower"
                            + " ListenerConfig.maxConnections.";
            case Errno.ENFILE ->
                    name + ", the system is at its limit of open files. Raise fs.file-max.";
            default ->
                    name
                            + ", the kernel is out of memory for it. Raise the memory limit, or"
                            + " lower ListenerConfig.maxConnections.";
        };
    }
}
