package dev.gyre.internal.backend;

import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.base.IntrusiveList;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// The requests that wait on a descriptor, and the last known readiness of it. Pooled: see
/// [DescriptorPool].
///
/// Loop thread only.
public final class DescriptorState implements ReadinessHandler {
    /// The kinds that have queues, in the order in which they are served.
    public static final List<Kind> QUEUES = List.of(Kind.URGENT, Kind.READ, Kind.WRITE, Kind.END);

    @FunctionalInterface
    public interface EventReader {
        void onReady(DescriptorState descriptor, int events);
    }

    private final EventReader reader;

    public int fd = -1;

    /// Bits of [Traits].
    public int traits;

    private final IntrusiveList<Request> urgent = new IntrusiveList<>();
    private final IntrusiveList<Request> reads = new IntrusiveList<>();
    private final IntrusiveList<Request> writes = new IntrusiveList<>();
    private final IntrusiveList<Request> ends = new IntrusiveList<>();

    /// The interest that the kernel has, and the one that it gets with the next flush: bits of
    /// [Readiness].
    public int armed;

    public int wanted;

    /// Whether the kernel knows the descriptor.
    public boolean registered;

    /// The kinds, as bits, whose next call is known to block.
    public int blocked;

    /// The kinds, as bits, whose last call drained the descriptor: the next one is expected to
    /// block.
    public int exhausted;

    /// The kinds, as bits, that were ready once without a waiting request.
    public int unwanted;

    /// Whether the end, an error or urgent data was reported: a short read is not the last one
    /// then.
    public boolean ending;

    /// The bits END, HANGUP and ERROR of [Readiness] that were reported. The kernel reports each
    /// edge once.
    public int endEvents;

    /// Whether it is in the list of descriptors whose interest may have changed.
    public boolean dirty;

    /// Whether it is in the list of descriptors that wait for a receive buffer.
    public boolean awaitsBuffer;

    /// Runs once the kernel no longer uses the number; null while the descriptor is open.
    public @Nullable Runnable released;

    /// Multishots whose handler processes a completion, and which are in no queue meanwhile.
    /// Created on first use; completion backends have none.
    private @Nullable List<Request> delivered;

    /// How many requests the kernel or their handlers hold.
    public int inFlight;

    /// The request of each kind that a completion backend executes, by ordinal.
    private final @Nullable Request[] serving = new @Nullable Request[QUEUES.size()];

    /// The kinds, as bits, that have requests to cancel once the one before them has completed.
    public int cancelling;

    /// The next one in the pool.
    @Nullable DescriptorState nextFree;

    public DescriptorState(EventReader reader) {
        this.reader = reader;
    }

    public void open(int fd, int traits) {
        assert isIdle() && inFlight == 0 : "acquired while in use";
        this.fd = fd;
        this.traits = traits;
        armed = 0;
        wanted = 0;
        registered = false;
        blocked = 0;
        exhausted = 0;
        unwanted = 0;
        ending = false;
        endEvents = 0;
        cancelling = 0;
        released = null;
    }

    public IntrusiveList<Request> queue(Kind kind) {
        return switch (kind) {
            case URGENT -> urgent;
            case READ -> reads;
            case WRITE -> writes;
            case END -> ends;
            case FILE -> throw new IllegalArgumentException("files have no queue");
        };
    }

    /// Returns whether no request waits in a queue.
    public boolean isIdle() {
        return urgent.isEmpty() && reads.isEmpty() && writes.isEmpty() && ends.isEmpty();
    }

    /// Returns the request of a kind that a completion backend executes; null if absent.
    @SuppressWarnings("EnumOrdinal") // an index, and nothing else
    public @Nullable Request serving(Kind kind) {
        return serving[kind.ordinal()];
    }

    @SuppressWarnings("EnumOrdinal") // an index, and nothing else
    public void serve(Kind kind, @Nullable Request request) {
        serving[kind.ordinal()] = request;
    }

    public void addDelivered(Request request) {
        if (delivered == null) {
            delivered = new ArrayList<>(1);
        }
        delivered.add(request);
    }

    public void removeDelivered(Request request) {
        if (delivered != null) {
            delivered.remove(request);
        }
    }

    public List<Request> delivered() {
        return delivered == null ? List.of() : delivered;
    }

    /// Posts completions, and calls for no callbacks.
    @Override
    public void onReady(int events) {
        reader.onReady(this, events);
    }

    /// The type of a descriptor, as bits.
    public static final class Traits {
        public static final int SOCKET = 1;

        /// A socket that transfers bytes in order. A read of zero bytes is its end.
        public static final int STREAM = 2;

        /// A short read has drained it. True for TCP; not for Unix sockets, whose reads also stop
        /// at passed descriptors.
        public static final int EMPTIED_BY_SHORT_READ = 4;

        public static final int TCP = SOCKET | STREAM | EMPTIED_BY_SHORT_READ;

        public static boolean isDatagram(int traits) {
            return (traits & (SOCKET | STREAM)) == SOCKET;
        }

        private Traits() {}
    }
}
