package dev.gyre.internal.io;

import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.IoHandler;
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
    private static final int WAITING = Kind.EXCEPT.bit | Kind.READ.bit | Kind.END.bit;

    final LoopContext host;
    final OperationEngine requests;
    final Syscalls seam;
    final OperationPools pools;
    final ReceiveBufferViews buffers;
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
    private @Nullable FdLease[] ports;

    public LoopOperations(
            LoopContext host, OperationEngine requests, Syscalls seam, LoopConfig config) {
        this.host = host;
        this.requests = requests;
        this.seam = seam;
        ports = new @Nullable FdLease[64];
        buffers = new ReceiveBufferViews(requests, this);
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
        FdLease port = at(descriptor.opening().fd);
        if (port != null && port.opening == descriptor.opening()) {
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
    FdLease portOf(OpenDescriptor descriptor) {
        FdLifetime opening = descriptor.opening();
        opening.requireOpen();
        FdLease port = at(opening.fd);
        return port != null && port.opening == opening ? port : open(descriptor, port);
    }

    private @Nullable FdLease at(int fd) {
        return fd < ports.length ? ports[fd] : null;
    }

    private FdLease open(OpenDescriptor descriptor, @Nullable FdLease other) {
        FdLifetime opening = descriptor.opening();
        if (other != null) {
            requireIdle(other, "has operations under way that go by another Descriptor object");
            other.close();
        }
        if (host.isWatched(opening.fd)) {
            throw new IllegalStateException(
                    descriptor + " is watched: unwatch it before starting operations on it");
        }
        opening.enter();
        try {
            FdLease port = new FdLease(this, opening, requests.open(opening.fd, traits(opening)));
            opening.attach(port);
            if (opening.fd >= ports.length) {
                ports = Arrays.copyOf(ports, Math.max(opening.fd + 1, ports.length * 2));
            }
            ports[opening.fd] = port;
            return port;
        } catch (Throwable e) {
            opening.leave();
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
    public void yieldTo(OpenDescriptor descriptor) {
        FdLease port = at(descriptor.opening().fd);
        if (port != null) {
            requireIdle(port, "has operations under way, and cannot be watched meanwhile");
            port.opening.detach(port);
            port.close();
        }
    }

    void remove(FdLease port) {
        if (ports[port.opening.fd] == port) {
            ports[port.opening.fd] = null;
        }
    }

    // ------------------------------------------------------------------ the loop's end

    /// Adjusts the count of operations that do not keep the loop alive.
    public void countBackground(int more) {
        background += more;
    }

    /// Whether operations in flight keep the loop alive.
    public boolean keepAlive() {
        return requests.outstanding() > background;
    }

    /// Makes a graceful shutdown wait, and exempts the descriptor's reads from it, until
    /// [#endTransfer].
    public void beginTransfer(OpenDescriptor descriptor) {
        portOf(descriptor).transfers = true;
        transfers++;
    }

    public void endTransfer(OpenDescriptor descriptor) {
        FdLease port = at(descriptor.opening().fd);
        if (port != null && port.opening == descriptor.opening()) {
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
        for (FdLease port : ports) {
            if (port != null && !port.transfers) {
                requests.cancelAll(port.state, key, WAITING);
            }
        }
    }

    /// Frees what completions have brought that are handed out no more, and lets all numbers go.
    public void close() {
        for (FdLease port : ports) {
            if (port != null) {
                port.opening.detach(port);
                port.close();
            }
        }
        requests.close();
        for (Request left = requests.takeCompleted();
                left != null;
                left = requests.takeCompleted()) {
            IoHandler owner = left.owner;
            ((LoopOperation) owner).drop();
        }
        pool.close();
        requests.buffers().close();
    }
}
