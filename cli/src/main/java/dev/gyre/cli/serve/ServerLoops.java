package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.PortSharing;
import dev.gyre.metrics.LoopMetrics;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;

/// The loops of a server, which share an address and nothing else: the kernel spreads connections over them.
///
/// Whoever opens them runs the first one; the others have a thread each from [#start()] on. Once started, only what
/// says so is for other threads than that of the first loop.
public final class ServerLoops implements AutoCloseable {
    private final List<ServerLoop> all = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    /// Loop thread only, that of the first one.
    private int drained;

    private ServerLoops() {}

    /// Opens loops, each with a server that answers nothing yet.
    public static ServerLoops open(int count, LoopConfig config, HttpConfig http) {
        ServerLoops loops = new ServerLoops();
        LoopConfig shared = config.withBufferMemoryShare(count);
        try {
            for (int i = 0; i < count; i++) {
                EventLoop loop = EventLoop.open(shared.withName(config.name() + "-" + i));
                loops.all.add(ServerLoop.of(loop, HttpServer.on(loop, http)));
            }
            return loops;
        } catch (Throwable e) {
            loops.close();
            throw e;
        }
    }

    /// Those that there are; any thread.
    public List<ServerLoop> all() {
        return all;
    }

    public EventLoop first() {
        return all.getFirst().loop();
    }

    public void forEach(Consumer<? super HttpServer> setUp) {
        all.forEach(each -> setUp.accept(each.server()));
    }

    /// Listens with all of them.
    ///
    /// @return where, with the port that the system chose
    /// @throws dev.gyre.SystemCallException if the address is taken, not allowed or not of this machine
    public SocketAddress listen(SocketAddress address, ListenerConfig config) {
        if (all.size() == 1) {
            return all.getFirst().server().listen(address, config).address();
        }
        // Another server that shares its port would let us in, and take half of our connections.
        ListenerConfig shared = config.withPortSharing(PortSharing.SHARED_FIRST);
        SocketAddress where = address;
        for (ServerLoop each : all) {
            where = each.server().listen(where, shared).address();
            shared = config.withPortSharing(PortSharing.SHARED);
        }
        return where;
    }

    /// Starts the threads of all but the first.
    public void start() {
        for (ServerLoop each : all.subList(1, all.size())) {
            threads.add(
                    Thread.ofPlatform()
                            .name(each.loop().config().name())
                            .daemon()
                            .start(() -> run(each.loop())));
        }
    }

    private void run(EventLoop loop) {
        try {
            loop.run();
        } finally {
            // Without one of them some connections would never be accepted: better to end than to
            // seem to serve.
            first().stop();
        }
    }

    /// Ends gracefully: see [HttpServer#drain].
    ///
    /// @param done called on the first loop's thread, when the last connection of the last loop is gone
    public void drain(Duration deadline, Runnable done) {
        for (ServerLoop each : all) {
            each.loop()
                    .submitPriority(
                            () -> {
                                Promise<@Nullable Void> _ =
                                        each.server().drain(deadline).thenAccept(_ -> tell(done));
                            });
        }
    }

    private void tell(Runnable done) {
        onFirst(
                () -> {
                    if (++drained == all.size()) {
                        done.run();
                    }
                });
    }

    /// Any thread.
    private void onFirst(Runnable task) {
        try {
            first().submitPriority(task);
        } catch (LoopTerminatedException e) {
            // It was told to end meanwhile, and nobody is left who would want to know.
        }
    }

    /// Asks all how many connections have something to do: see [HttpServer#busy]. Behind [#drain], those that are left.
    ///
    /// @param patience for loops that do not answer, whose connections do not count then
    /// @param told the sum, on the first loop's thread
    public void countBusy(Duration patience, LongConsumer told) {
        new Census(patience, told).take();
    }

    /// Loop thread only, that of the first one.
    private final class Census {
        private final LongConsumer told;
        private final Timer giveUp;
        private int answers;
        private long busy;

        Census(Duration patience, LongConsumer told) {
            this.told = told;
            giveUp = first().after(patience, _ -> told.accept(busy));
        }

        void take() {
            for (ServerLoop each : all) {
                each.loop().submitPriority(() -> report(each.server().busy()));
            }
        }

        private void report(int count) {
            onFirst(() -> add(count));
        }

        private void add(int count) {
            busy += count;
            if (++answers == all.size() && giveUp.cancel()) {
                told.accept(busy);
            }
        }
    }

    /// What all have counted together; any thread.
    public long sum(ToLongFunction<? super LoopMetrics> counter) {
        return all.stream().mapToLong(each -> counter.applyAsLong(each.loop().metrics())).sum();
    }

    /// How many connections were closed for a reason; any thread.
    public long closed(CloseReason reason) {
        return sum(metrics -> metrics.streamsClosed(reason));
    }

    /// How many requests came; any thread.
    public long requests() {
        return all.stream().mapToLong(each -> each.requests().getOpaque()).sum();
    }

    /// Closes whatever is open, and ends the loops. Any thread but those of the loops.
    @Override
    public void close() {
        all.forEach(each -> each.loop().close());
    }
}
