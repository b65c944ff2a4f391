package dev.gyre.internal.io;

import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// All operations of a loop: which descriptors they use, and where those come from that are used again.
///
/// Loop thread only.
public final class LoopOperations {
    /// The key of operations that accept connections for streams: a shutdown cancels them first.
    public static final Object ACCEPTING = new Object();

    /// The kinds of operations that only a peer can complete.
    private static final int WAITING = Kind.URGENT.bit | Kind.READ.bit | Kind.END.bit;

    final LoopContext host;
    final OperationEngine requests;
    final Syscalls seam;
    final OperationPools pools;
    final LoopReceive.Views receiveViews;
    final BufferPool pool;
    final BufferLeaks leaks = new BufferLeaks();
    private final NativeBytes scratch = NativeBytes.allocate(2L * Long.BYTES);

    private final TaskRing tickEnd = new TaskRing("ends of the tick");
    private final StreamCounters streamCounters = new StreamCounters();
    private long tick;

    /// How many operations in flight do not keep the loop alive.
    private int background;

    /// How many descriptors have a transfer that a graceful shutdown waits for.
    private int transfers;

    /// Indexed by number.
    private @Nullable FdLease[] leases;

    /// A descriptor in use by operations of this loop: holds the number from the first operation
    /// until the descriptor is closed and the kernel no longer uses it.
    ///
    /// Loop thread only.
    final class FdLease implements FdLifetime.User {
        final FdLifetime opening;
        final DescriptorState state;

        /// Whether its reads continue during a graceful shutdown, because they belong to an
        /// unfinished transfer.
        private boolean transfers;

        private boolean closed;

        private FdLease(FdLifetime opening, DescriptorState state) {
            this.opening = opening;
            this.state = state;
        }

        /// Any thread: the descriptor is being closed. The loop thread ends its operations.
        @Override
        public void descriptorClosing() {
            onLoop(this::close);
        }

        /// Cancels pending operations. Releases the number once the kernel no longer uses it.
        private void close() {
            if (!closed) {
                closed = true;
                if (leases[opening.fd] == this) {
                    leases[opening.fd] = null;
                }
                requests.close(state, opening::release);
            }
        }
    }

    public LoopOperations(
            LoopContext host, OperationEngine requests, Syscalls seam, LoopConfig config) {
        this.host = host;
        this.requests = requests;
        this.seam = seam;
        leases = new @Nullable FdLease[64];
        receiveViews = new LoopReceive.Views(requests, this);
        pool = new BufferPool(this, seam.memory(), config.bufferMemory());
        pools = new OperationPools(this, config.preallocatedOperations());
    }

    public Syscalls seam() {
        return seam;
    }

    public OperationPools pools() {
        return pools;
    }

    public BufferPool pool() {
        return pool;
    }

    public BufferLeaks leaks() {
        return leaks;
    }

    public void requireOpen(String method) {
        host.requireOpen(method);
    }

    /// Cancels what is pending on a descriptor.
    ///
    /// @param key only what has this key, unless it is null
    public void cancelAll(OpenDescriptor descriptor, @Nullable Object key) {
        host.requireConfined("cancelAll");
        FdLease port = leaseAt(descriptor.lifetime().fd);
        if (port != null && port.opening == descriptor.lifetime()) {
            requests.cancelAll(port.state, key, Kind.ALL);
        }
    }

    /// Runs the task on the loop thread: now if that is the calling thread, otherwise through the
    /// priority lane. While no thread runs the loop, the task waits for the next run or for the
    /// shutdown. Does nothing once the loop is TERMINATED, which ends all operations. Any thread.
    public void onLoop(Runnable task) {
        boolean queued = !host.isLoopThread() && host.trySubmitPriority(new InternalTask(task));
        if (!queued && host.mustNotBlock()) {
            task.run(); // On the loop thread, or on the thread that shuts the loop down.
        }
    }

    /// Runs the action in the flush step of the tick, once per call. Not for user code.
    public void atTickEnd(Runnable last) {
        tickEnd.add(last);
    }

    /// Runs the actions registered for the end of the tick.
    public void endTick() {
        tick++;
        RuntimeException failed = null;
        while (!tickEnd.isEmpty()) {
            try {
                tickEnd.take().run();
            } catch (RuntimeException e) {
                failed = failed == null ? e : failed; // The others are not to suffer for it.
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    /// Returns whether an action is registered for the end of the tick.
    public boolean hasTickEnd() {
        return !tickEnd.isEmpty();
    }

    /// Returns the number of the current tick.
    public long tick() {
        return tick;
    }

    /// Whether the loop is coming to its end: what waits for others is cancelled, and starts no more.
    public boolean isEnding() {
        return host.isShuttingDown();
    }

    public StreamCounters streamCounters() {
        return streamCounters;
    }

    // ------------------------------------------------------------------ ports

    /// What the operations of a descriptor go through.
    FdLease leaseOf(OpenDescriptor descriptor) {
        FdLifetime opening = descriptor.lifetime();
        opening.requireOpen();
        FdLease port = leaseAt(opening.fd);
        return port != null && port.opening == opening ? port : open(descriptor, port);
    }

    private @Nullable FdLease leaseAt(int fd) {
        return fd < leases.length ? leases[fd] : null;
    }

    private FdLease open(OpenDescriptor descriptor, @Nullable FdLease other) {
        FdLifetime opening = descriptor.lifetime();
        if (other != null) {
            requireIdle(other, "has operations under way that go by another Descriptor object");
            other.close();
        }
        if (host.isWatched(opening.fd)) {
            throw new IllegalStateException(
                    descriptor + " is watched: unwatch it before starting operations on it");
        }
        opening.acquire();
        try {
            FdLease port = new FdLease(opening, requests.open(opening.fd, traits(opening)));
            opening.attach(port);
            if (opening.fd >= leases.length) {
                leases = Arrays.copyOf(leases, Math.max(opening.fd + 1, leases.length * 2));
            }
            leases[opening.fd] = port;
            return port;
        } catch (Throwable e) {
            opening.release();
            throw e;
        }
    }

    /// What is known of it, asked of the kernel unless whoever opened it knew.
    private int traits(FdLifetime opening) {
        if (opening.isNonBlocking()) {
            return opening.traits();
        }
        int flags = seam.kernels().get().fcntl(opening.fd, Linux.F_GETFL, 0);
        if (flags < 0) {
            throw new SystemCallException("fcntl(F_GETFL)", -flags, opening.fd);
        }
        if ((flags & Linux.O_NONBLOCK) == 0) {
            throw new IllegalStateException(
                    opening
                            + " blocks, which would stop the whole loop: call nonBlocking() first,"
                            + " or use the operations for files");
        }
        long type = scratch.address();
        Memory.putInt(type + Long.BYTES, Integer.BYTES);
        int result =
                seam.sockets()
                        .get()
                        .getsockopt(
                                opening.fd,
                                Linux.SOL_SOCKET,
                                Linux.SO_TYPE,
                                type,
                                type + Long.BYTES);
        if (result == -Errno.ENOTSOCK) {
            return 0;
        }
        if (result < 0) {
            throw new SystemCallException("getsockopt(SO_TYPE)", -result, opening.fd);
        }
        boolean stream = Memory.getInt(type) == Linux.SOCK_STREAM;
        return stream ? Traits.SOCKET | Traits.STREAM : Traits.SOCKET;
    }

    private static void requireIdle(FdLease port, String otherwise) {
        if (!port.state.isIdle() || port.state.inFlight > 0) {
            throw new IllegalStateException(port.opening + " " + otherwise + ": cancel them first");
        }
    }

    /// A watcher is to have the number: nothing may be pending on it.
    public void releaseToWatcher(OpenDescriptor descriptor) {
        FdLease port = leaseAt(descriptor.lifetime().fd);
        if (port != null) {
            requireIdle(port, "has operations under way, and cannot be watched meanwhile");
            port.opening.detach(port);
            port.close();
        }
    }

    // ------------------------------------------------------------------ the loop's end

    /// Adjusts the count of operations that do not keep the loop alive.
    public void countBackground(int more) {
        background += more;
    }

    /// Whether operations in flight keep the loop alive.
    public boolean keepsLoopAlive() {
        return requests.outstanding() > background;
    }

    /// Makes a graceful shutdown wait, and exempts the descriptor's reads from it, until
    /// [#endTransfer].
    public void beginTransfer(OpenDescriptor descriptor) {
        leaseOf(descriptor).transfers = true;
        transfers++;
    }

    public void endTransfer(OpenDescriptor descriptor) {
        FdLease port = leaseAt(descriptor.lifetime().fd);
        if (port != null && port.opening == descriptor.lifetime()) {
            port.transfers = false;
        }
        transfers--;
    }

    /// Whether a graceful shutdown has a transfer to wait for.
    public boolean isTransferring() {
        return transfers > 0;
    }

    /// Cancels operations that wait for a peer, except those of transfers. Writes are left to complete.
    ///
    /// @param key cancels only operations with this key; all if null
    public void cancelWaiting(@Nullable Object key) {
        for (FdLease port : leases) {
            if (port != null && !port.transfers) {
                requests.cancelAll(port.state, key, WAITING);
            }
        }
    }

    /// Frees what completions have brought that are handed out no more, and lets all numbers go.
    public void close() {
        for (FdLease port : leases) {
            if (port != null) {
                port.opening.detach(port);
                port.close();
            }
        }
        requests.close();
        for (Request left = requests.pollCompleted();
                left != null;
                left = requests.pollCompleted()) {
            ((LoopOperation) left.handler).drop();
        }
        pool.close();
        requests.buffers().close();
    }
}
