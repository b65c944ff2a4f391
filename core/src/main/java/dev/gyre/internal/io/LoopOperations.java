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
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.Consumer;

/// The operations of a loop: their descriptors, pools and buffer memory.
///
/// Loop thread only.
public final class LoopOperations {
    /// The key of operations that accept connections for streams: a shutdown cancels them first.
    public static final Object ACCEPTING = new Object();

    /// The kinds of operations that only a peer can complete.
    private static final int WAITING = Kind.URGENT.bit | Kind.READ.bit | Kind.END.bit;

    final LoopContext context;
    final OperationEngine engine;
    final SyscallFactories syscalls;
    final OperationPools pools;
    final LoopReceiveOperation.Views receiveViews;
    final BufferPool pool;
    final BufferLeaks leaks = new BufferLeaks();

    private final TaskRing tickEnd = new TaskRing("ends of the tick");
    private final StreamCounters streamCounters = new StreamCounters();
    private long tick;

    /// The number of operations in flight that do not keep the loop alive.
    private int background;

    /// The number of descriptors with a transfer that a graceful shutdown waits for.
    private int transfers;

    // Shared: guarded by late. Tasks of other threads that the closed priority lane refused.
    private final ArrayDeque<Runnable> late = new ArrayDeque<>();
    private boolean lateClosed;

    /// Indexed by fd.
    private @Nullable FdLease[] leases = new @Nullable FdLease[64];

    /// A descriptor in use by operations of this loop: holds the number from the first operation
    /// until the descriptor is closed and the kernel no longer uses it.
    final class FdLease implements FdLifetime.User {
        final FdLifetime lifetime;
        final DescriptorState state;

        /// Whether its reads continue during a graceful shutdown, because they belong to an
        /// unfinished transfer.
        private boolean transfers;

        private boolean closed;

        private FdLease(FdLifetime lifetime, DescriptorState state) {
            this.lifetime = lifetime;
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
                if (leases[lifetime.fd] == this) {
                    leases[lifetime.fd] = null;
                }
                engine.close(state, lifetime::release);
            }
        }
    }

    public LoopOperations(
            LoopContext context,
            OperationEngine engine,
            SyscallFactories syscalls,
            LoopConfig config) {
        this.context = context;
        this.engine = engine;
        this.syscalls = syscalls;
        receiveViews = new LoopReceiveOperation.Views(engine, this);
        pool = new BufferPool(this, syscalls.memory(), config.bufferMemory());
        pools = new OperationPools(this, config.preallocatedOperations());
    }

    public SyscallFactories syscalls() {
        return syscalls;
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
        context.requireOpen(method);
    }

    /// Cancels the operations with this key, or all if it is null.
    public void cancelAll(OpenDescriptor descriptor, @Nullable Object key) {
        context.requireConfined("cancelAll");
        FdLease lease = leaseAt(descriptor.lifetime().fd);
        if (lease != null && lease.lifetime == descriptor.lifetime()) {
            engine.cancelAll(lease.state, key, Kind.ALL);
        }
    }

    /// Runs the task on the loop thread: now if that is the calling thread, otherwise through the
    /// priority lane. While no thread runs the loop, the task waits for the next run or for the
    /// shutdown. Once the lane is closed, the task waits for [#close], which ends all operations.
    /// Does nothing after that. Any thread.
    public void onLoop(Runnable task) {
        if (!context.isLoopThread() && context.trySubmitPriority(new InternalTask(task))) {
            return;
        }
        if (context.mustNotBlock()) {
            task.run(); // On the loop thread, or on the thread that shuts the loop down.
            return;
        }
        synchronized (late) {
            if (!lateClosed) {
                late.add(task);
            }
        }
    }

    /// Removes the oldest late task. Accepts no more once there is none.
    private @Nullable Runnable pollLate() {
        synchronized (late) {
            lateClosed = late.isEmpty();
            return late.poll();
        }
    }

    /// Runs the action in the flush step of the tick, once per call. Not for user code.
    public void beforeFlush(Runnable last) {
        tickEnd.add(last);
    }

    public void runFlushActions() {
        tick++;
        RuntimeException failed = null;
        while (!tickEnd.isEmpty()) {
            try {
                tickEnd.take().run();
            } catch (RuntimeException e) {
                failed = failed == null ? e : failed; // The other actions still run.
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    public boolean hasFlushActions() {
        return !tickEnd.isEmpty();
    }

    public long tick() {
        return tick;
    }

    /// Whether the loop shuts down: operations that wait for a peer are cancelled, not started.
    public boolean isShuttingDown() {
        return context.isShuttingDown();
    }

    public StreamCounters streamCounters() {
        return streamCounters;
    }

    /// Returns the lease of a descriptor, opening it for the first operation.
    FdLease leaseOf(OpenDescriptor descriptor) {
        FdLifetime lifetime = descriptor.lifetime();
        lifetime.requireOpen();
        FdLease lease = leaseAt(lifetime.fd);
        return lease != null && lease.lifetime == lifetime ? lease : open(descriptor, lease);
    }

    private @Nullable FdLease leaseAt(int fd) {
        return fd < leases.length ? leases[fd] : null;
    }

    private FdLease open(OpenDescriptor descriptor, @Nullable FdLease other) {
        FdLifetime lifetime = descriptor.lifetime();
        if (other != null) {
            requireIdle(other, "has pending operations of another Descriptor object");
            other.close();
        }
        if (context.isWatched(lifetime.fd)) {
            throw new IllegalStateException(
                    descriptor + " is watched: unwatch it before starting operations on it");
        }
        lifetime.acquire();
        try {
            FdLease lease = new FdLease(lifetime, engine.open(lifetime.fd, traits(lifetime)));
            lifetime.attach(lease);
            if (lifetime.fd >= leases.length) {
                leases = Arrays.copyOf(leases, Math.max(lifetime.fd + 1, leases.length * 2));
            }
            leases[lifetime.fd] = lease;
            return lease;
        } catch (Throwable e) {
            lifetime.release();
            throw e;
        }
    }

    /// Returns the traits of a descriptor. Queries the kernel if the opener did not set them.
    private int traits(FdLifetime lifetime) {
        if (lifetime.isNonBlocking()) {
            return lifetime.traits();
        }
        int flags = syscalls.kernels().get().fcntl(lifetime.fd, Linux.F_GETFL, 0);
        if (flags < 0) {
            throw new SystemCallException("fcntl(F_GETFL)", -flags, lifetime.fd);
        }
        if ((flags & Linux.O_NONBLOCK) == 0) {
            throw new IllegalStateException(
                    lifetime
                            + " is blocking, which would stop the loop: call nonBlocking() first,"
                            + " or use the operations for files");
        }
        int type = SocketOption.SO_TYPE.get(syscalls, lifetime.fd);
        if (type == -Errno.ENOTSOCK) {
            return 0;
        }
        if (type < 0) {
            throw new SystemCallException("getsockopt(SO_TYPE)", -type, lifetime.fd);
        }
        return type == Linux.SOCK_STREAM ? Traits.SOCKET | Traits.STREAM : Traits.SOCKET;
    }

    private static void requireIdle(FdLease lease, String problem) {
        if (!lease.state.isIdle() || lease.state.inFlight > 0) {
            throw new IllegalStateException(lease.lifetime + " " + problem + ": cancel them first");
        }
    }

    /// Ends the lease of a descriptor that is about to be watched.
    ///
    /// @throws IllegalStateException if operations are pending
    public void releaseToWatcher(OpenDescriptor descriptor) {
        FdLease lease = leaseAt(descriptor.lifetime().fd);
        if (lease != null) {
            endLease(lease, "has pending operations and cannot be watched");
        }
    }

    /// Ends the lease of a descriptor that moves to another loop.
    ///
    /// @throws IllegalStateException if operations are pending
    public void endLease(OpenDescriptor descriptor) {
        FdLease lease = leaseAt(descriptor.lifetime().fd);
        if (lease != null && lease.lifetime == descriptor.lifetime()) {
            endLease(lease, "has pending operations and cannot move");
        }
    }

    private static void endLease(FdLease lease, String problem) {
        requireIdle(lease, problem);
        lease.lifetime.detach(lease);
        lease.close();
    }

    public void countBackground(int more) {
        background += more;
    }

    public boolean keepsLoopAlive() {
        return engine.outstanding() > background;
    }

    /// Makes a graceful shutdown wait, and exempts the descriptor's reads from it, until
    /// [#endTransfer].
    public void beginTransfer(OpenDescriptor descriptor) {
        leaseOf(descriptor).transfers = true;
        transfers++;
    }

    public void endTransfer(OpenDescriptor descriptor) {
        FdLease lease = leaseAt(descriptor.lifetime().fd);
        if (lease != null && lease.lifetime == descriptor.lifetime()) {
            lease.transfers = false;
        }
        transfers--;
    }

    public boolean isTransferring() {
        return transfers > 0;
    }

    /// Cancels operations that wait for a peer, except those of transfers. Writes may complete.
    ///
    /// @param key cancels only operations with this key; all if null
    public void cancelWaiting(@Nullable Object key) {
        for (FdLease lease : leases) {
            if (lease != null && !lease.transfers) {
                engine.cancelAll(lease.state, key, WAITING);
            }
        }
    }

    /// Ends all operations.
    ///
    /// @param runner runs the tasks that other threads added too late for the lane, and handles
    ///     their exceptions
    public void close(Consumer<Runnable> runner) {
        for (Runnable task = pollLate(); task != null; task = pollLate()) {
            runner.accept(task);
        }
        for (FdLease lease : leases) {
            if (lease != null) {
                lease.lifetime.detach(lease);
                lease.close();
            }
        }
        engine.close();
        for (Request left = engine.pollCompleted(); left != null; left = engine.pollCompleted()) {
            ((LoopOperation) left.handler).drop();
        }
        pool.close();
        engine.buffers().close();
    }
}
