package dev.gyre.internal.backend;

import dev.gyre.internal.backend.Opcode.Kind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// What a backend knows of a descriptor that requests are made of: what waits on it, in order, and what the
/// kernel was last heard to say of it. Taken from a pool and given back, with another generation.
///
/// Loop thread only.
public final class DescriptorState implements ReadinessHandler {
    /// The kinds that have queues, in the order in which they are served.
    public static final List<Kind> QUEUES = List.of(Kind.URGENT, Kind.READ, Kind.WRITE, Kind.END);

    /// The reader of its events, which says what they mean.
    private final EventReader reader;

    /// Takes what the kernel says of the descriptor.
    @FunctionalInterface
    public interface EventReader {
        void onReady(DescriptorState descriptor, int events);
    }

    public int fd = -1;

    /// Bits of [Traits].
    public int traits;

    private final RequestQueue except = new RequestQueue();
    private final RequestQueue reads = new RequestQueue();
    private final RequestQueue writes = new RequestQueue();
    private final RequestQueue ends = new RequestQueue();

    /// The bits of [Readiness] that the kernel has, and those it is to have by the end of the tick.
    public int armed;

    public int wanted;

    /// Whether the kernel knows of it.
    public boolean registered;

    /// Kinds, as bits, that would block as far as is known: not worth a try.
    public int blocked;

    /// Kinds, as bits, whose last call drained the descriptor, so the next one is expected to
    /// block.
    public int exhausted;

    /// Kinds that were ready though nobody waited for them, once already.
    public int unwanted;

    /// The end, an error or urgent data was reported: reads go on until they meet it.
    public boolean ending;

    /// The bits END, HANGUP and ERROR of [Ready] that were reported. The kernel reports each edge
    /// once.
    public int endEvents;

    /// Whether it stands in a list of those to be looked at before the next wait.
    public boolean dirty;

    /// Whether it stands in the list of those that wait for a buffer of the loop's.
    public boolean awaitsBuffer;

    /// What to call when the kernel has let go of the number; null while it is open.
    public @Nullable Runnable released;

    /// Multishots whose owner deals with a completion just now, and which are in no queue therefore. Made when first wanted,
    /// which a backend that completes never does.
    private @Nullable List<Request> delivered;

    /// How many requests the kernel has in hand.
    public int inFlight;

    /// What a completing kernel has in hand, or is about to have, of each kind that has a queue.
    private final @Nullable Request[] serving = new @Nullable Request[QUEUES.size()];

    /// Kinds, as bits, of which some wait only to end after the one before them has.
    public int cancelling;

    public @Nullable DescriptorState nextFree;

    public DescriptorState(EventReader reader) {
        this.reader = reader;
    }

    public RequestQueue queue(Kind kind) {
        return switch (kind) {
            case URGENT -> except;
            case READ -> reads;
            case WRITE -> writes;
            case END -> ends;
            case FILE -> throw new IllegalArgumentException("files have no queue");
        };
    }

    /// The request of this kind whose turn it is, on a backend that completes.
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

    public boolean isIdle() {
        return except.isEmpty() && reads.isEmpty() && writes.isEmpty() && ends.isEmpty();
    }

    /// Makes it ready for another descriptor.
    public void open(int fd, int traits) {
        assert isIdle() && inFlight == 0 : "taken while in use";
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

    /// What is known of a descriptor's nature.
    public static final class Traits {
        public static final int SOCKET = 1;

        /// Of a socket: bytes in order, whose end is told by zero.
        public static final int STREAM = 2;

        /// A read that brings less than was asked for has brought all there was. True of TCP; not of Unix sockets,
        /// which also stop at descriptors that are passed along.
        public static final int EMPTIED_BY_SHORT_READ = 4;

        public static final int TCP = SOCKET | STREAM | EMPTIED_BY_SHORT_READ;

        public static boolean isDatagram(int traits) {
            return (traits & (SOCKET | STREAM)) == SOCKET;
        }

        private Traits() {}
    }

    // ------------------------------------------------------------------ as the handler of its
    // events

    /// Posts completions, and calls for no callbacks.
    @Override
    public void onReady(int events) {
        reader.onReady(this, events);
    }
}
