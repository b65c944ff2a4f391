package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.Timer;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.group.Group;
import dev.gyre.internal.group.LoopValues;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Distribution;
import dev.gyre.io.DrainReport;
import dev.gyre.io.GroupListener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.PortSharing;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/// A listener on each loop of a group, over one or several listening sockets.
///
/// The group listener owns the sockets, and each loop uses a duplicate. If a loop fails, only its
/// duplicate is closed: the kernel keeps the socket with its backlog, and the next loop continues
/// with another duplicate.
///
/// Any thread.
public final class LoopGroupListener implements GroupListener, LoopValues.Member {
    private final Group group;
    private final ListenerConfig config;
    private final Consumer<? super Stream> handler;
    private final SocketAddress address;

    /// Whether loop 0 accepts for all loops.
    private final boolean singleAcceptor;

    final List<ListenerSlot> slots = new ArrayList<>();

    // Shared: any thread writes them.
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean paused;
    private final AtomicInteger scans = new AtomicInteger();

    // Shared: written once, when the listener is open on all loops.
    private volatile @Nullable LoopValues<?> values;

    private LoopGroupListener(
            Group group,
            ListenerConfig config,
            Consumer<? super Stream> handler,
            boolean singleAcceptor,
            List<OpenDescriptor> sockets) {
        this.group = group;
        this.config = config;
        this.handler = handler;
        this.singleAcceptor = singleAcceptor;
        address = NativeSockets.localAddress(syscalls(group), sockets.getFirst());
        ConnectionLimit limit =
                new ConnectionLimit(config.maxConnections(), config.maxConnectionsPerPeer());
        for (int i = 0; i < group.size(); i++) {
            slots.add(new ListenerSlot(limit, i, this, sockets.get(singleAcceptor ? 0 : i)));
        }
    }

    /// Opens the sockets first: if one of them cannot be opened, no loop has changed.
    public static LoopGroupListener open(
            LoopGroup loops,
            SocketAddress address,
            ListenerConfig config,
            Consumer<? super Stream> handler) {
        Group group = (Group) Objects.requireNonNull(loops, "group");
        LoopListener.check(address, config, handler);
        checkSteering(address, config);
        boolean singleAcceptor =
                config.distribution() == Distribution.LEAST_CONNECTIONS
                        || address instanceof UnixDomainSocketAddress;
        List<OpenDescriptor> sockets = new ArrayList<>();
        try {
            openSockets(group, address, config, singleAcceptor ? 1 : group.size(), sockets);
            LoopGroupListener listener =
                    new LoopGroupListener(group, config, handler, singleAcceptor, sockets);
            listener.start();
            return listener;
        } catch (Throwable e) {
            sockets.forEach(OpenDescriptor::close);
            if (!sockets.isEmpty()) {
                SocketSettings.removeFile(address);
            }
            throw e;
        }
    }

    /// Rejects addresses that REUSE_PORT_BY_CPU cannot steer. The BPF program selects a socket by
    /// index, and sockets of other listeners would shift the indexes.
    private static void checkSteering(SocketAddress address, ListenerConfig config) {
        if (config.distribution() == Distribution.REUSE_PORT_BY_CPU
                && (address instanceof UnixDomainSocketAddress
                        || config.portSharing() == PortSharing.SHARED)) {
            throw new IllegalArgumentException(
                    "Distribution.REUSE_PORT_BY_CPU requires a TCP address that the group does not"
                            + " share with other listeners, but got "
                            + address
                            + " with PortSharing."
                            + config.portSharing()
                            + ": use Distribution.REUSE_PORT");
        }
    }

    private static void openSockets(
            Group group,
            SocketAddress address,
            ListenerConfig config,
            int count,
            List<OpenDescriptor> sockets) {
        SyscallFactories syscalls = syscalls(group);
        ListenerConfig shared = config;
        if (count > 1 && config.portSharing() == PortSharing.EXCLUSIVE) {
            // Fails if another process listens on the port, unlike SHARED.
            shared = config.withPortSharing(PortSharing.SHARED_FIRST);
        }
        SocketAddress bound = address;
        for (int i = 0; i < count; i++) {
            OpenDescriptor socket = SocketSettings.of(shared).listen(syscalls, bound);
            sockets.add(socket);
            if (i == 0) {
                bound = NativeSockets.localAddress(syscalls, socket); // With the port.
                shared = config.withPortSharing(PortSharing.SHARED);
            }
        }
        if (config.distribution() == Distribution.REUSE_PORT_BY_CPU) {
            SocketOption.steerByProcessor(syscalls, sockets.getFirst(), count);
        }
    }

    private static SyscallFactories syscalls(Group group) {
        return group.loop(0).operations().syscalls();
    }

    private void start() {
        try {
            values = group.perLoop(this::openOn, this);
            if (closed.get()) { // By the group, of which it is a member before it listens.
                throw new IllegalStateException(
                        "the group is shutting down, so it starts no new work: open a new group");
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /// Listens on a loop, also on one that replaces a failed one. Loop-confined to that loop.
    private ListenerSlot openOn(EventLoop loop) {
        int index = Loop.of(loop).groupIndex;
        ListenerSlot slot = slots.get(index);
        OpenDescriptor duplicate;
        try {
            duplicate =
                    NativeSockets.duplicate(syscalls(group), Objects.requireNonNull(slot.socket));
        } catch (ClosedDescriptorException e) {
            return slot; // The listener is closed. The loop does not need it.
        }
        int suspended = Acceptor.PAUSED | (singleAcceptor && index > 0 ? Acceptor.STANDBY : 0);
        LoopListener listener =
                LoopListener.open(loop, duplicate, config, handler, slot, suspended);
        if (index == 0 && !config.rebalanceInterval().isZero()) {
            loop.every(config.rebalanceInterval(), this::rebalance).unreference();
        }
        // Read after the listener is published: resume() may have updated the one it replaces.
        listener.setSuspended(Acceptor.PAUSED, paused);
        slot.lowMemory = false;
        memoryChanged();
        if (closed.get()) {
            listener.close(); // close() may have seen the previous one.
        }
        return slot;
    }

    /// Passes an accepted connection that has a permit to a loop that serves it.
    ///
    /// @param from the listener on the calling thread's loop
    void place(OpenDescriptor connection, LoopListener from) {
        int first = singleAcceptor ? fewest() : from.slot.index;
        for (int i = 0; i < slots.size(); i++) {
            if (slots.get((first + i) % slots.size()).offer(connection, from)) {
                return;
            }
        }
        if (from.isAccepting()) {
            from.serve(connection); // All loops are overloaded or low on memory.
        } else {
            from.refuse(connection);
        }
    }

    /// Hands a client that waits for a permit to another loop, because its own one has terminated.
    ///
    /// @return false if no other loop accepts
    @SuppressWarnings("ReferenceEquality") // compares identity
    boolean handOverWaiting(OpenDescriptor connection, LoopListener from) {
        for (LoopListener each : listeners()) {
            if (each != from
                    && !closed.get()
                    && each.isAccepting()
                    && each.trySubmit(
                            new InternalTask(() -> each.acceptor.addWaiting(connection)))) {
                return true;
            }
        }
        return false;
    }

    /// Suspends accepting while all loops are low on memory. A loop that has none hands over.
    void memoryChanged() {
        for (LoopListener each : listeners()) {
            each.submit(
                    () ->
                            each.setSuspended(
                                    Acceptor.LOW_MEMORY,
                                    slots.stream().allMatch(slot -> slot.lowMemory)));
        }
    }

    /// Returns the index of the loop with the fewest connections, counting those on their way.
    /// Loops with equal counts alternate, so that short connections do not all have one loop.
    private int fewest() {
        int first = scans.getAndIncrement();
        int best = 0;
        int min = Integer.MAX_VALUE;
        for (int i = 0; i < slots.size(); i++) {
            int index = Math.floorMod(first + i, slots.size());
            int count = slots.get(index).connections();
            if (count < min) {
                min = count;
                best = index;
            }
        }
        return best;
    }

    @Override
    public SocketAddress address() {
        return address;
    }

    @Override
    public int connections() {
        return (int) sum(slot -> slot.connections());
    }

    @Override
    public int connections(EventLoop loop) {
        int index = group.indexOf(loop);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "loop " + loop.config().name() + " is not a current loop of the group");
        }
        return slots.get(index).connections();
    }

    @Override
    public long accepted() {
        return sum(slot -> slot.get(ListenerSlot.ACCEPTED) + slot.get(ListenerSlot.SHED));
    }

    @Override
    public long refused() {
        return sum(slot -> slot.get(ListenerSlot.REFUSED));
    }

    @Override
    public long shed() {
        return sum(slot -> slot.get(ListenerSlot.SHED));
    }

    private long sum(ToLongFunction<ListenerSlot> count) {
        return slots.stream().mapToLong(count).sum();
    }

    @Override
    public void pause() {
        paused = true;
        updatePaused();
    }

    @Override
    public void resume() {
        paused = false;
        updatePaused();
    }

    private void updatePaused() {
        for (LoopListener each : listeners()) {
            each.submit(() -> each.setSuspended(Acceptor.PAUSED, paused));
        }
    }

    private List<LoopListener> listeners() {
        List<LoopListener> open = new ArrayList<>();
        for (ListenerSlot slot : slots) {
            LoopListener listener = slot.listener;
            if (listener != null) {
                open.add(listener);
            }
        }
        return open;
    }

    /// Moves connections from loops with many to loops with few. Called on loop 0.
    private void rebalance(Timer timer) {
        if (closed.get()) {
            timer.cancel();
            return;
        }
        if (slots.stream().anyMatch(slot -> slot.get(ListenerSlot.MOVING) > 0)) {
            return; // The counts are about to change.
        }
        int[] counts = slots.stream().mapToInt(slot -> slot.connections()).toArray();
        for (Rebalancer.Transfer each : Rebalancer.plan(counts)) {
            LoopListener from = slots.get(each.from()).listener;
            LoopListener to = slots.get(each.to()).listener;
            if (from != null && to != null && to.isAccepting()) {
                from.slot.move(to, each.count());
            }
        }
    }

    /// Passes a connection that has moved to the listener on its new loop, unless that one drains.
    /// Called on the new loop.
    ///
    /// @return the listener that counts the connection
    LoopListener passOn(Connection connection, LoopListener from) {
        for (LoopListener each : listeners()) {
            if (each.streams == connection.streams
                    && each != from
                    && each.drained == null
                    && from.slot.current().isOpen()) { // A draining one waits for it.
                long _ = each.slot.add(ListenerSlot.CONNECTIONS, 1);
                from.connectionGone(connection);
                return each;
            }
        }
        return from;
    }

    @Override
    public boolean isOpen() {
        return !closed.get();
    }

    @Override
    public CompletionStage<DrainReport> drain(Duration deadline) {
        Checks.notNegative("deadline", deadline);
        closeSockets(); // The loops close their duplicates in drain.
        List<CompletableFuture<DrainReport>> reports = new ArrayList<>();
        for (LoopListener each : listeners()) {
            reports.add(each.slot.drain(each, deadline));
        }
        return CompletableFuture.allOf(reports.toArray(new CompletableFuture<?>[0]))
                .thenApply(
                        _ -> {
                            leaveGroup();
                            return merge(reports);
                        })
                .minimalCompletionStage();
    }

    private static DrainReport merge(List<CompletableFuture<DrainReport>> reports) {
        int finished = 0;
        int reset = 0;
        for (CompletableFuture<DrainReport> each : reports) {
            DrainReport report = each.join();
            finished += report.finished();
            reset += report.reset();
        }
        return new DrainReport(finished, reset);
    }

    @Override
    public void close() {
        closeSockets();
        listeners().forEach(LoopListener::close);
        leaveGroup();
    }

    private void leaveGroup() {
        LoopValues<?> perLoop = values;
        if (perLoop != null) {
            perLoop.remove();
        }
    }

    @Override
    public CompletionStage<?> onShutdown(Duration deadline) {
        return config.drainOnShutdown() ? drain(deadline) : CompletableFuture.completedStage(null);
    }

    @Override
    public void onEnded() {
        close();
    }

    private void closeSockets() {
        if (!closed.getAndSet(true)) {
            for (ListenerSlot slot : slots) {
                Objects.requireNonNull(slot.socket).close();
            }
            SocketSettings.removeFile(address);
        }
    }

    @Override
    public String toString() {
        return "GroupListener[" + address + ", " + connections() + " connections]";
    }
}
