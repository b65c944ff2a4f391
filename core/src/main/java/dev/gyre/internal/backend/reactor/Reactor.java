package dev.gyre.internal.backend.reactor;

import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.Completions;
import dev.gyre.internal.backend.DescriptorPool;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.FileWork;
import dev.gyre.internal.backend.Interest;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Performer;
import dev.gyre.internal.backend.Ready;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.Request.State;
import dev.gyre.internal.backend.RequestHost;
import dev.gyre.internal.backend.RequestQueue;
import dev.gyre.internal.backend.Requests;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Seam;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// Operations over readiness.
///
/// A request is tried at once if nobody waits before it and the descriptor is not known to block; else it
/// joins the queue of its kind, and the kernel is asked to tell of that kind from the end of the tick on.
/// When it does, the queue is served from the front until the descriptor blocks again.
///
/// Descriptors are registered edge-triggered and stay so: a connection costs one registration for all its
/// messages. What the kernel has said is remembered instead, in `blocked`. Four rules make that
/// sound. A kind is marked as blocked only by a call that would have, or by a short read of a stream, which
/// has taken all there was; whatever comes later is a new edge. Once the end, an error or urgent data was
/// reported, short reads no longer count: they end there, and that edge does not come again. Arming a kind makes the
/// kernel report it anew if it is ready. And a call that would block although readiness was reported, and nothing has used
/// that up, may be mistaken: the kind is armed again, for no edge comes twice.
///
/// Interest in a kind that was twice ready with nobody waiting is dropped, so that a flood nobody reads wakes
/// nobody.
///
/// Loop thread only.
public final class Reactor implements Requests, DescriptorState.EventReader {
    private final Backend backend;
    private final Performer performer;
    private final FileWork files;
    private final ReceiveBuffers buffers;
    private final Completions completions = new Completions();
    private final DescriptorPool descriptors;

    /// Those whose interest may have changed, and those that wait for a buffer.
    private final List<DescriptorState> dirty = new ArrayList<>();

    private final ArrayDeque<DescriptorState> starved = new ArrayDeque<>();

    public Reactor(Backend backend, Seam seam, RequestHost host) {
        this.backend = backend;
        performer = new Performer(seam.kernels().get(), seam.sockets().get());
        files = new FileWork(host, seam.files(), completions);
        LoopConfig config = host.config();
        buffers =
                new ReceiveBuffers(
                        seam.memory(), config.receiveBuffers(), config.receiveBufferBytes());
        descriptors = new DescriptorPool(this, config.preallocatedDescriptors());
    }

    @Override
    public DescriptorState open(int fd, int traits) {
        return descriptors.take(fd, traits);
    }

    // ------------------------------------------------------------------ starting

    @Override
    public void start(DescriptorState descriptor, Request request) {
        request.begin(descriptor);
        request.fd = descriptor.fd;
        completions.begun();
        tryOrQueue(descriptor, request);
    }

    private void tryOrQueue(DescriptorState descriptor, Request request) {
        Kind kind = request.opcode.kind;
        if (kind == Kind.END) {
            awaitEnd(descriptor, request);
            return;
        }
        if (kind == Kind.READ && !descriptor.queue(Kind.EXCEPT).isEmpty()) {
            // Urgent data first. The read itself is tried all the same: what it waits for may have
            // been reported already, and no edge comes twice.
            serve(descriptor, Kind.EXCEPT, 0);
        }
        RequestQueue queue = descriptor.queue(kind);
        if (queue.isEmpty() && !isBlocked(descriptor, kind)) {
            long result = perform(descriptor, request);
            if (result != Performer.WOULD_BLOCK) {
                complete(descriptor, request, result);
                return;
            }
        }
        queue.add(request);
        want(descriptor, kind);
    }

    private void awaitEnd(DescriptorState descriptor, Request request) {
        int known = descriptor.over & request.flags;
        if (known != 0) {
            completions.post(request, known, false);
        } else {
            descriptor.queue(Kind.END).add(request);
            want(descriptor, Kind.END);
        }
    }

    @Override
    public void startFile(Request request) {
        request.begin(null);
        completions.begun();
        files.start(request);
    }

    /// Performs it once, and notes if the descriptor blocks now.
    private long perform(DescriptorState descriptor, Request request) {
        if (request.opcode == Opcode.RECEIVE) {
            return receive(descriptor, request);
        }
        long before = request.transferred;
        long result = performer.perform(request, descriptor.traits);
        Kind kind = request.opcode.kind;
        if (result == Performer.WOULD_BLOCK) {
            blocks(descriptor, kind, request.transferred != before);
        } else {
            if (isShortRead(descriptor, request, result)) {
                descriptor.blocked |= kind.bit;
            }
            performed(descriptor, kind, leavesNothing(request, result));
        }
        return result;
    }

    /// Whether the next call is expected to block: a read that is not full, and one that takes a whole thing at a time.
    private static boolean leavesNothing(Request request, long result) {
        return request.opcode.kind == Kind.READ
                && (request.opcode != Opcode.READ || result < request.length);
    }

    private static void performed(DescriptorState descriptor, Kind kind, boolean leavesNothing) {
        if (leavesNothing) {
            descriptor.exhausted |= kind.bit;
        } else {
            descriptor.exhausted &= ~kind.bit;
        }
    }

    /// A call would block. If nothing has used up the readiness that was reported, the kernel is asked to report it anew.
    private void blocks(DescriptorState descriptor, Kind kind, boolean usedUp) {
        descriptor.blocked |= kind.bit;
        int interest = interestOf(kind);
        if (!usedUp
                && kind != Kind.EXCEPT
                && (descriptor.exhausted & kind.bit) == 0
                && (descriptor.armed & interest) != 0) {
            descriptor.armed &= ~interest;
            markDirty(descriptor);
        }
    }

    private static boolean isShortRead(DescriptorState descriptor, Request request, long result) {
        return request.opcode == Opcode.READ
                && result < request.length
                && result > 0
                && !descriptor.ending
                && (descriptor.traits & Traits.EMPTIED_BY_SHORT_READ) != 0;
    }

    private long receive(DescriptorState descriptor, Request request) {
        int buffer = buffers.take();
        if (buffer < 0) {
            // Not blocked, for all that is known: it is us who are not ready. A read that follows
            // must be tried, for its edge has come.
            if (!descriptor.starving) {
                descriptor.starving = true;
                starved.add(descriptor);
            }
            return Performer.WOULD_BLOCK;
        }
        long result =
                performer.receive(
                        descriptor.fd, buffers.address(buffer), buffers.size(), descriptor.traits);
        if (result > 0) {
            request.buffer = buffer;
            performed(descriptor, Kind.READ, result < buffers.size());
            if (result < buffers.size()
                    && !descriptor.ending
                    && (descriptor.traits & Traits.EMPTIED_BY_SHORT_READ) != 0) {
                descriptor.blocked |= Kind.READ.bit;
            }
        } else {
            buffers.give(buffer);
            if (result == Performer.WOULD_BLOCK) {
                blocks(descriptor, Kind.READ, false);
            }
        }
        return result;
    }

    private void complete(DescriptorState descriptor, Request request, long result) {
        // The end of a stream is the last one too.
        boolean usable = result > 0 || (result == 0 && !isEnd(descriptor, request));
        boolean more = request.multishot && usable;
        if (more) {
            descriptor.inFlight++;
            descriptor.toOwner(request);
        }
        completions.post(request, result, more);
    }

    /// Whether zero is the end: not for connections, nor for datagrams, which may be empty.
    private static boolean isEnd(DescriptorState descriptor, Request request) {
        return request.opcode != Opcode.ACCEPT && !Traits.isDatagram(descriptor.traits);
    }

    @Override
    public void resume(Request request) {
        DescriptorState descriptor = request.descriptor;
        assert descriptor != null && request.multishot : "only a multishot goes on";
        descriptor.inFlight--;
        descriptor.fromOwner(request);
        if (request.cancelRequested || descriptor.released != null) {
            completions.post(request, -Errno.ECANCELED, false);
            descriptors.giveIfUnused(descriptor);
        } else {
            tryOrQueue(descriptor, request);
        }
    }

    // ------------------------------------------------------------------ events

    @Override
    public void ready(DescriptorState descriptor, int ready) {
        int errno = Ready.errno(ready);
        if (errno != 0) {
            fail(descriptor, errno);
            return;
        }
        boolean over = (ready & (Ready.ERROR | Ready.HANGUP)) != 0;
        descriptor.ending |= over || (ready & (Ready.END | Ready.URGENT)) != 0;
        descriptor.over |= ready & (Ready.END | Ready.HANGUP | Ready.ERROR);
        if ((ready & Ready.URGENT) != 0 || (!over && !descriptor.queue(Kind.EXCEPT).isEmpty())) {
            // Tried even if not announced: kqueue may report it in a later batch than the read.
            serve(descriptor, Kind.EXCEPT, ready);
        }
        if (over && !descriptor.queue(Kind.EXCEPT).isEmpty()) {
            endUrgent(descriptor);
        }
        if (over || (ready & (Ready.READABLE | Ready.END)) != 0) {
            serve(descriptor, Kind.READ, ready);
        }
        if (over || (ready & Ready.WRITABLE) != 0) {
            serve(descriptor, Kind.WRITE, ready);
        }
        if (!descriptor.queue(Kind.END).isEmpty()) {
            serveEnd(descriptor);
        }
    }

    private void serveEnd(DescriptorState descriptor) {
        RequestQueue queue = descriptor.queue(Kind.END);
        Request request = queue.first();
        while (request != null) {
            Request after = queue.after(request);
            int known = descriptor.over & request.flags;
            if (known != 0) {
                queue.remove(request);
                completions.post(request, known, false);
            }
            request = after;
        }
    }

    /// The kernel reported an error in place of readiness. Its filter may be gone, so what starts
    /// next is tried, and armed anew if it blocks.
    private void fail(DescriptorState descriptor, int errno) {
        descriptor.ending = true;
        descriptor.blocked = 0;
        descriptor.wanted = 0;
        descriptor.armed = 0;
        completeAll(descriptor, errno);
    }

    /// Serves a queue from the front until the descriptor blocks.
    private void serve(DescriptorState descriptor, Kind kind, int ready) {
        int bit = kind.bit;
        descriptor.blocked &= ~bit;
        descriptor.exhausted &= ~bit;
        RequestQueue queue = descriptor.queue(kind);
        if (queue.isEmpty()) {
            nobodyAsked(descriptor, kind);
            return;
        }
        Request request = queue.first();
        while (request != null && (descriptor.blocked & bit) == 0) {
            long result = perform(descriptor, request);
            if (result == Performer.WOULD_BLOCK) {
                return;
            }
            queue.remove(request);
            complete(descriptor, request, result);
            if (result < 0 && (ready & Ready.ERROR) != 0) {
                completeAll(descriptor, (int) -result);
                return;
            }
            request = queue.first();
        }
    }

    /// No urgent data comes any more, and the call for it would not say so.
    private void endUrgent(DescriptorState descriptor) {
        int error = performer.socketError(descriptor.fd);
        RequestQueue queue = descriptor.queue(Kind.EXCEPT);
        for (Request request = queue.poll(); request != null; request = queue.poll()) {
            completions.post(request, -Math.abs(error), false);
        }
        if (error > 0) {
            completeAll(descriptor, error); // It was taken from the others by asking.
        }
    }

    private void nobodyAsked(DescriptorState descriptor, Kind kind) {
        int bit = kind.bit;
        int interest = interestOf(kind);
        if ((descriptor.wanted & interest) == 0) {
            return;
        }
        if ((descriptor.unasked & bit) == 0) {
            descriptor.unasked |= bit;
        } else {
            descriptor.wanted &= ~interest;
            markDirty(descriptor);
        }
    }

    /// One error for all that wait: clause O-5.
    private void completeAll(DescriptorState descriptor, int errno) {
        for (Kind kind : DescriptorState.QUEUES) {
            RequestQueue queue = descriptor.queue(kind);
            for (Request request = queue.poll(); request != null; request = queue.poll()) {
                completions.post(request, -errno, false);
            }
        }
    }

    // ------------------------------------------------------------------ interest

    private static boolean isBlocked(DescriptorState descriptor, Kind kind) {
        return (descriptor.blocked & kind.bit) != 0;
    }

    private static int interestOf(Kind kind) {
        return switch (kind) {
            case EXCEPT -> Interest.URGENT;
            case READ -> Interest.READ;
            case WRITE -> Interest.WRITE;
            case END -> Interest.END;
            case FILE -> 0;
        };
    }

    private void want(DescriptorState descriptor, Kind kind) {
        descriptor.unasked &= ~kind.bit;
        int interest = interestOf(kind);
        if ((descriptor.wanted & interest) == 0) {
            descriptor.wanted |= interest;
            markDirty(descriptor);
        }
    }

    private void markDirty(DescriptorState descriptor) {
        if (!descriptor.dirty) {
            descriptor.dirty = true;
            dirty.add(descriptor);
        }
    }

    @Override
    public void flush() {
        if (!starved.isEmpty() && buffers.available() > 0) {
            feed();
        }
        for (int i = 0; i < dirty.size(); i++) {
            DescriptorState descriptor = dirty.get(i);
            descriptor.dirty = false;
            if (descriptor.released == null && withEnd(descriptor.wanted) != descriptor.armed) {
                arm(descriptor);
            }
            descriptors.giveIfUnused(descriptor);
        }
        dirty.clear();
    }

    /// Reads stop short at the end, so that those who read are told of it too.
    private static int withEnd(int wanted) {
        return (wanted & Interest.READ) != 0 ? wanted | Interest.END : wanted;
    }

    private void arm(DescriptorState descriptor) {
        int wanted = withEnd(descriptor.wanted);
        int interest = wanted == 0 ? 0 : wanted | Interest.EDGE;
        try {
            if (descriptor.registered) {
                backend.modify(descriptor.fd, interest);
            } else {
                backend.register(descriptor.fd, interest, descriptor);
                descriptor.registered = true;
            }
            descriptor.armed = wanted;
        } catch (SystemCallException e) {
            // What waits would wait for ever.
            descriptor.wanted = 0;
            descriptor.armed = 0;
            completeAll(descriptor, e.errno());
        }
    }

    private void feed() {
        while (!starved.isEmpty() && buffers.available() > 0) {
            DescriptorState descriptor = starved.removeFirst();
            descriptor.starving = false;
            if (descriptor.released == null) {
                serve(descriptor, Kind.READ, 0);
            }
            descriptors.giveIfUnused(descriptor);
        }
    }

    // ------------------------------------------------------------------ ending

    @Override
    public void cancel(Request request) {
        if (request.state() == State.IDLE
                || (request.state() == State.COMPLETED && !request.more)) {
            return;
        }
        DescriptorState descriptor = request.descriptor;
        if (descriptor != null
                && request.state() == State.PENDING
                && descriptor.queue(request.opcode.kind).contains(request)) {
            descriptor.queue(request.opcode.kind).remove(request);
            completions.post(request, -Errno.ECANCELED, false);
        } else {
            request.cancelRequested = true; // On its way: whoever has it will see to it.
        }
    }

    @Override
    public void cancelAll(DescriptorState descriptor, @Nullable Object key, int kinds) {
        for (Kind kind : DescriptorState.QUEUES) {
            if ((kinds & kind.bit) != 0) {
                cancelAll(descriptor.queue(kind), key);
            }
        }
        List<Request> withOwners = descriptor.withOwners();
        for (int i = 0; i < withOwners.size(); i++) {
            Request request = withOwners.get(i);
            if ((kinds & request.opcode.kind.bit) != 0 && hasKey(request, key)) {
                request.cancelRequested = true;
            }
        }
    }

    private void cancelAll(RequestQueue queue, @Nullable Object key) {
        Request request = queue.first();
        while (request != null) {
            Request after = queue.after(request);
            if (hasKey(request, key)) {
                cancel(request);
            }
            request = after;
        }
    }

    private static boolean hasKey(Request request, @Nullable Object key) {
        return key == null || key.equals(request.key);
    }

    @Override
    public void close(DescriptorState descriptor, Runnable released) {
        cancelAll(descriptor, null, Kind.ALL);
        descriptor.released = released;
        if (descriptor.registered) {
            descriptor.registered = false;
            backend.deregister(descriptor.fd, descriptor);
        }
        released.run();
        descriptors.giveIfUnused(descriptor);
    }

    // ------------------------------------------------------------------ completions

    @Override
    public @Nullable Request takeCompleted() {
        return completions.take();
    }

    @Override
    public boolean hasCompleted() {
        return !completions.isEmpty();
    }

    @Override
    public int outstanding() {
        return completions.outstanding();
    }

    @Override
    public long ended() {
        return completions.ended();
    }

    @Override
    public ReceiveBuffers buffers() {
        return buffers;
    }

    @Override
    public void giveBack(int buffer) {
        buffers.give(buffer);
    }

    @Override
    public void close() {
        files.close();
    }
}
