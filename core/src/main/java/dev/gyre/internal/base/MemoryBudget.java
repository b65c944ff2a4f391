package dev.gyre.internal.base;

import dev.gyre.LoopConfig;

import org.jspecify.annotations.Nullable;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// The native memory budget shared by all loops of a process. Each loop reserves its maximum when
/// it is opened, so the sum stays within the limit under any load. Opening a loop that does not fit
/// throws.
///
/// The default limit is the maximum heap size, which is also the JVM's default for direct buffers.
///
/// Any thread.
public final class MemoryBudget {
    private static final String PROPERTY = "gyre.bufferMemory";
    private static final long MIB = 1 << 20;

    /// The minimum that a loop needs besides its receive buffers.
    private static final long MIN_BYTES = MIB;

    /// The maximum that a loop reserves by default.
    private static final long MAX_SHARE = 256 * MIB;

    /// The default minimum of a loop's reservation, unless it exceeds half of the limit.
    private static final long MIN_SHARE = 32 * MIB;

    private static final int COLLECTIONS = 3;
    private static final long COLLECTION_WAIT_NANOS = 20_000_000;

    public static final MemoryBudget PROCESS =
            new MemoryBudget(limitOf(System.getProperty(PROPERTY)));

    private final long limit;

    // Guarded by this.
    private long reserved;
    private final Map<Reference<?>, Long> reservations = new HashMap<>();
    private final ReferenceQueue<Reservation> unreachable = new ReferenceQueue<>();

    /// A loop's reservation, until it is closed or unreachable.
    public final class Reservation implements AutoCloseable {
        private final LoopConfig config;
        private final Reference<?> handle = new PhantomReference<>(this, unreachable);

        private Reservation(LoopConfig config, long bytes) {
            this.config = config;
            reservations.put(handle, bytes);
            reserved += bytes;
        }

        /// The loop's configuration, with its share of the buffer memory.
        public LoopConfig config() {
            return config;
        }

        @Override
        public void close() {
            release(handle);
        }
    }

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    static long limitOf(@Nullable String property) {
        if (property == null) {
            return Runtime.getRuntime().maxMemory();
        }
        try {
            int digits = property.length() - 1;
            int unit = "kmg".indexOf(Character.toLowerCase(property.charAt(digits)));
            String number = unit < 0 ? property : property.substring(0, digits);
            return Math.multiplyExact(Long.parseUnsignedLong(number), 1L << ((unit + 1) * 10));
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                    "system property "
                            + PROPERTY
                            + ": a number of bytes such as 64m or 1g, not "
                            + property,
                    e);
        }
    }

    /// Returns the buffer memory of one of `loops` loops. One share is left for further loops.
    ///
    /// @param loops 0 if unknown: as many as there are processors
    /// @param receiving the bytes of its receive buffers
    public long share(int loops, long receiving) {
        long share;
        if (loops > 0) {
            share = limit / (loops + 1);
        } else {
            int processors = Runtime.getRuntime().availableProcessors();
            share = Math.max(limit / (processors + 1), Math.min(MIN_SHARE, limit / 2));
        }
        return Math.clamp(share - receiving, MIN_BYTES, MAX_SHARE);
    }

    /// A loop with a share gets at most half of what is left, so more loops can open than were
    /// expected. It always gets a minimum and is never refused. A loop with a size of its own is
    /// refused if that size is not left, after unreachable loops were collected.
    ///
    /// @throws IllegalStateException if the configured size is not left
    public Reservation reserve(LoopConfig config) {
        Reservation reservation = tryReserve(config);
        for (int attempt = 0; reservation == null && attempt < COLLECTIONS; attempt++) {
            System.gc(); // Loops that were dropped without close() hold reservations.
            LockSupport.parkNanos(COLLECTION_WAIT_NANOS << attempt);
            reservation = tryReserve(config);
        }
        if (reservation == null) {
            throw new IllegalStateException(shortage(config));
        }
        return reservation;
    }

    private synchronized @Nullable Reservation tryReserve(LoopConfig config) {
        for (Reference<?> gone = unreachable.poll(); gone != null; gone = unreachable.poll()) {
            release(gone);
        }
        boolean shared = config.hasBufferMemoryShare();
        long left = limit - reserved;
        LoopConfig resolved = config;
        if (shared) {
            long min = Math.clamp(limit / 64, MIN_BYTES, MIN_SHARE / 4);
            long max = Math.max(min, left / 2 - receiving(config));
            resolved = config.withBufferMemory(Math.min(config.bufferMemory(), max));
        }
        long bytes = resolved.bufferMemory() + receiving(config);
        return shared || bytes <= left ? new Reservation(resolved, bytes) : null;
    }

    private static long receiving(LoopConfig config) {
        return (long) config.receiveBuffers() * config.receiveBufferBytes();
    }

    private synchronized String shortage(LoopConfig config) {
        long receiving = receiving(config);
        return ("loop %s needs %d MiB of native memory (bufferMemory %d MiB, receiveBuffers %d"
                        + " MiB), but %d of %d MiB are left: lower LoopConfig.withBufferMemory or"
                        + " withReceiveBuffers, close other loops, or raise the limit of the"
                        + " process with -D%s=SIZE or -Xmx")
                .formatted(
                        config.name(),
                        (config.bufferMemory() + receiving) / MIB,
                        config.bufferMemory() / MIB,
                        receiving / MIB,
                        Math.max(0, limit - reserved) / MIB,
                        limit / MIB,
                        PROPERTY);
    }

    private synchronized void release(Reference<?> handle) {
        Long bytes = reservations.remove(handle);
        if (bytes != null) {
            reserved -= bytes;
        }
    }

    synchronized long reserved() {
        return reserved;
    }
}
