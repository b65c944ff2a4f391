package dev.gyre.internal.base;

import dev.gyre.metrics.TraceEvent;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;

/// The trace of one loop: a filter, which is null while off, and a ring of the latest events.
///
/// One thread at a time records: the loop thread. Any thread starts, stops and reads.
public final class TraceRecorder {
    public static final int CAPACITY = 8_192;

    /// Held while a trace starts, stops or is cleared on the loops of a group, and while a loop
    /// replaces another one. So a loop cannot miss a change.
    public static final Object LOCK = new Object();

    /// Selects connections: one id, peer or route, or all of them.
    ///
    /// @param connection 0 for any
    /// @param peer null for any
    /// @param route null for any
    public record Filter(long connection, @Nullable InetAddress peer, @Nullable String route) {
        public static final Filter ALL = new Filter(0, null, null);

        public boolean matches(long id, SocketAddress address, @Nullable String currentRoute) {
            return (connection == 0 || connection == id)
                    && (peer == null
                            || (address instanceof InetSocketAddress internet
                                    && peer.equals(internet.getAddress())))
                    && (route == null || route.equals(currentRoute));
        }

        boolean isAll() {
            return connection == 0 && peer == null && route == null;
        }
    }

    /// The latest events. The writer stores an event, then the count. A reader checks the count
    /// again after it has copied, and drops what may have been overwritten meanwhile.
    private static final class Ring {
        private static final int SLOTS = CAPACITY + 1; // One may be half-written.

        private final AtomicReferenceArray<@Nullable TraceEvent> slots =
                new AtomicReferenceArray<>(SLOTS);
        private final Instant startTime = Instant.now();
        private final long startNanos;

        // Shared: written by the loop thread.
        private volatile long count;

        Ring(long startNanos) {
            this.startNanos = startNanos;
        }

        void add(String loop, long connection, Kind kind, String detail, long nowNanos) {
            Instant time = startTime.plusNanos(nowNanos - startNanos);
            long index = count;
            slots.setRelease(
                    (int) (index % SLOTS), new TraceEvent(time, loop, connection, kind, detail));
            count = index + 1; // One writer.
        }

        void copyTo(List<TraceEvent> events) {
            long end = count;
            long from = Math.max(0, end - CAPACITY);
            List<@Nullable TraceEvent> copy = new ArrayList<>();
            for (long i = from; i < end; i++) {
                copy.add(slots.getAcquire((int) (i % SLOTS)));
            }
            long lost = Math.clamp(count - CAPACITY - from, 0, copy.size());
            for (TraceEvent event : copy.subList((int) lost, copy.size())) {
                if (event != null) {
                    events.add(event);
                }
            }
        }
    }

    private final String loopName;
    private final LongSupplier cachedNanos;
    private final LongSupplier nanoTime;

    // Shared: written under the lock, read by any thread.
    private volatile @Nullable Filter filter;
    private volatile @Nullable Ring ring;

    /// Creates the trace of a loop, which is off.
    ///
    /// @param cachedNanos the time of the current tick, on the scale of `nanoTime`
    public TraceRecorder(String loopName, LongSupplier cachedNanos, LongSupplier nanoTime) {
        this.loopName = loopName;
        this.cachedNanos = cachedNanos;
        this.nanoTime = nanoTime;
    }

    /// Returns the filter; null while off.
    public @Nullable Filter filter() {
        return filter;
    }

    /// Returns whether events of the loop itself are recorded.
    public boolean recordsAll() {
        Filter current = filter;
        return current != null && current.isAll();
    }

    /// Records an event. Called by the loop thread while on.
    public void record(long connection, Kind kind, String detail) {
        Ring current = ring;
        if (current != null) {
            current.add(loopName, connection, kind, detail, cachedNanos.getAsLong());
        }
    }

    /// Starts with a filter, or stops if it is null.
    public void set(@Nullable Filter next) {
        synchronized (LOCK) {
            if (next != null && ring == null) {
                ring = new Ring(nanoTime.getAsLong());
            }
            filter = next;
        }
    }

    public void clear() {
        synchronized (LOCK) {
            ring = filter == null ? null : new Ring(nanoTime.getAsLong());
        }
    }

    /// Takes over the filter and events of a loop that has terminated.
    public void continueFrom(TraceRecorder replaced) {
        synchronized (LOCK) {
            ring = replaced.ring;
            filter = replaced.filter;
        }
    }

    public void copyTo(List<TraceEvent> events) {
        Ring current = ring;
        if (current != null) {
            current.copyTo(events);
        }
    }
}
