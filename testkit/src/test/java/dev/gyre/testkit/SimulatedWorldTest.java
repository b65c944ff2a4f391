package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.CancellationSource;
import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.FileOpenOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

@On("simulated")
class SimulatedWorldTest {
    private static final Duration HOUR = Duration.ofHours(1);

    // ------------------------------------------------------------------ time

    @Test
    @Clause("B-6")
    void advance_movesTheClockExactlyAndFiresWhatIsDueInOrder() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> fired = new ArrayList<>();
            long start = world.loop().nanoTime();
            world.loop().after(Duration.ofSeconds(2), timer -> fired.add("two"));
            world.loop().after(Duration.ofSeconds(1), timer -> fired.add("one"));
            world.loop().after(Duration.ofSeconds(3), timer -> fired.add("three"));
            world.advance(Duration.ofSeconds(2));
            assertThat(fired).containsExactly("one", "two");
            assertThat(world.loop().nanoTime() - start).isEqualTo(2_000_000_000L);
            assertThat(world.elapsed()).isEqualTo(Duration.ofSeconds(2));
        }
    }

    @Test
    @Clause("B-6")
    void advance_byAYear_takesNoTime() {
        try (var world = SimulatedWorld.seed(1)) {
            List<Duration> fired = new ArrayList<>();
            world.loop().every(Duration.ofDays(100), timer -> fired.add(world.elapsed()));
            world.advance(Duration.ofDays(1_000));
            assertThat(fired).hasSize(10).last().isEqualTo(Duration.ofDays(1_000));
        }
    }

    @Test
    @Clause("B-6")
    void advance_withATimerThatStopsTheLoop_goesOnToTheEnd() {
        try (var world = SimulatedWorld.seed(1)) {
            world.loop().after(Duration.ofSeconds(1), timer -> world.loop().stop());
            world.advance(Duration.ofSeconds(5));
            assertThat(world.elapsed()).isEqualTo(Duration.ofSeconds(5));
        }
    }

    @Test
    @Clause("B-6")
    void advance_afterTheLoopIsOver_movesTheRestOfTheWorld() {
        try (var world = SimulatedWorld.seed(1)) {
            new EchoServer(world.loop(), 80);
            var client = world.connect(80);
            world.run();
            world.loop().close();
            world.advance(Duration.ofSeconds(1));
            assertThat(world.elapsed()).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
            assertThat(client).isNotNull();
        }
    }

    @Test
    @Clause("B-6")
    void run_waitsForTheNetworkAndNotForTimers() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> fired = new ArrayList<>();
            world.loop().after(HOUR, timer -> fired.add("late"));
            new EchoServer(world.loop(), 80);
            var client = world.connect(80).send("hello");
            world.run();
            assertThat(client.receivedText()).isEqualTo("hello");
            assertThat(fired).isEmpty();
            assertThat(world.elapsed()).isLessThan(Duration.ofMillis(5));
        }
    }

    @Test
    @Clause("B-6")
    void promisify_runsOnAnotherThreadWhileTheLoopWaits() {
        try (var world = SimulatedWorld.seed(1)) {
            List<Thread> threads = new ArrayList<>();
            Promise<String> promise =
                    world.loop()
                            .promisify(
                                    cancellation -> {
                                        threads.add(Thread.currentThread());
                                        return "done";
                                    });
            List<String> results = new ArrayList<>();
            promise.thenAccept(results::add);
            assertThat(threads).as("not inside the call").isEmpty();
            world.run();
            assertThat(results).containsExactly("done");
            assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
        }
    }

    @Test
    @Clause({"B-6", "P-2"})
    void workThatAwaitsPromises_takesTurnsWithTheLoop() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> steps = new ArrayList<>(); // Not for threads that run at a time.
            var first = Promise.delay(world.loop(), Duration.ofSeconds(1));
            Promise<String> work =
                    world.loop()
                            .promisify(
                                    _ -> {
                                        steps.add("begins");
                                        first.await();
                                        steps.add("resumes at " + world.elapsed().toSeconds());
                                        return "done";
                                    });
            Promise<String> follows =
                    world.loop().promisify(_ -> work.await() + " after " + world.elapsed());
            world.run();
            assertThat(steps).containsExactly("begins");
            world.advance(Duration.ofSeconds(2));
            assertThat(steps).containsExactly("begins", "resumes at 1");
            assertThat(follows.outcome()).isEqualTo(new Outcome.Resolved<>("done after PT1S"));
        }
    }

    @Test
    @Clause("B-6")
    void workThatAwaits_whenCancelled_isInterruptedInItsTurn() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> steps = new ArrayList<>();
            CancellationSource source = new CancellationSource();
            Promise<String> never = world.loop().<String>deferred().promise();
            Promise<String> work =
                    world.loop()
                            .promisify(
                                    source.cancellation(),
                                    _ -> {
                                        try {
                                            return never.await();
                                        } catch (InterruptedException e) {
                                            steps.add("interrupted");
                                            throw e;
                                        }
                                    });
            work.recover(_ -> "cancelled").thenAccept(steps::add);
            world.run();
            assertThat(steps).isEmpty();
            source.cancel("enough");
            world.run();
            assertThat(steps).containsExactlyInAnyOrder("cancelled", "interrupted");
        }
    }

    @Test
    @Clause("B-6")
    void promiseTimeout_firesInSimulatedTime() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> log = new ArrayList<>();
            world.loop()
                    .<String>deferred()
                    .promise()
                    .orTimeout(Duration.ofMinutes(10))
                    .recover(
                            reason -> {
                                log.add(reason.getClass().getSimpleName());
                                return "";
                            });
            world.advance(Duration.ofMinutes(9));
            assertThat(log).isEmpty();
            world.advance(Duration.ofMinutes(1));
            assertThat(log).hasSize(1);
        }
    }

    // ------------------------------------------------------------------ connections

    @Test
    @Clause("B-6")
    void echo_ofAClient_comesBackWholeAndInOrder() {
        try (var world = SimulatedWorld.seed(7)) {
            new EchoServer(world.loop(), 80);
            byte[] bytes = new byte[300_000];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) (i * 31 + i / 256);
            }
            var client = world.connect(80).send(bytes).halfClose();
            world.run();
            assertThat(client.received()).isEqualTo(bytes);
            assertThat(client.isEnded()).as("the server has closed after the end").isTrue();
            assertThat(client.isReset()).isFalse();
        }
    }

    @Test
    @Clause("B-6")
    void connect_whereNobodyListens_isRefused() {
        try (var world = SimulatedWorld.seed(1)) {
            var client = world.connect(81);
            assertThat(client.isConnecting()).isTrue();
            world.run();
            assertThat(client.isRefused()).isTrue();
            assertThat(client.isClosed()).isTrue();
        }
    }

    @Test
    @Clause("B-6")
    void reset_byTheClient_reachesTheServerAsAnError() {
        try (var world = SimulatedWorld.seed(1)) {
            var server = new EchoServer(world.loop(), 80);
            var client = world.connect(80).send("hello");
            world.run();
            client.reset();
            world.run();
            assertThat(server.failures).singleElement().asString().contains("ECONNRESET");
            assertThat(server.connections).isEmpty();
        }
    }

    @Test
    @Clause("B-6")
    void pauseReading_ofTheClient_stopsTheServerUntilItReadsAgain() {
        try (var world = SimulatedWorld.seed(1).socketBuffers(1 << 14)) {
            var server = new EchoServer(world.loop(), 80);
            var client = world.connect(80).pauseReading().send(new byte[500_000]);
            world.run();
            assertThat(client.unsentBytes()).as("the server has stopped reading").isPositive();
            assertThat(server.connections).hasSize(1);
            client.resumeReading();
            world.run();
            assertThat(client.unsentBytes()).isZero();
            assertThat(client.received()).hasSize(500_000);
        }
    }

    @Test
    @Clause("B-6")
    void listen_ofAPeer_isConnectedToByTheLoop() {
        try (var world = SimulatedWorld.seed(1)) {
            var server = world.listen(5432).onConnect(peer -> peer.send("ready"));
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5432);
            Descriptor socket = Sockets.stream(world.loop(), address);
            Operations operations = Operations.on(world.loop());
            Buffer buffer = Buffer.allocate(16);
            List<String> log = new ArrayList<>();
            Operation read = operations.read(socket, buffer, op -> log.add(buffer.getText(UTF_8)));
            operations.connect(socket, address, op -> read.start()).start();
            world.run();
            assertThat(log).containsExactly("ready");
            assertThat(server.peers()).hasSize(1);
            socket.close();
            world.run();
            assertThat(server.peers().getFirst().isEnded()).isTrue();
        }
    }

    // ------------------------------------------------------------------ descriptors and files

    @Test
    @Clause("B-6")
    void pipe_isWatchedLikeAnyOther() {
        try (var world = SimulatedWorld.seed(1)) {
            var pipe = world.pipe();
            List<String> log = new ArrayList<>();
            ByteBuffer buffer = ByteBuffer.allocateDirect(16);
            world.loop()
                    .watch(
                            pipe.reader(),
                            WatchSpec.reading(
                                    ready -> {
                                        int read = ready.descriptor().read(buffer.clear());
                                        log.add("read " + read);
                                        if (read < 0) {
                                            ready.unwatch();
                                        }
                                    }));
            pipe.writer().write(ByteBuffer.wrap("abc".getBytes(UTF_8)));
            world.run();
            pipe.writer().close();
            world.run();
            assertThat(log).containsExactly("read 3", "read -1");
        }
    }

    @Test
    @Clause("B-6")
    void files_areWrittenAndReadBack() {
        try (var world = SimulatedWorld.seed(1)) {
            Operations operations = Operations.on(world.loop());
            Path path = Path.of("/data/notes");
            List<Descriptor> opened = new ArrayList<>();
            FileOpenOperation open =
                    operations.open(
                            path,
                            op -> opened.add(op.opened()),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
            open.start();
            world.run();
            Buffer text = Buffer.allocate(16).put("written".getBytes(UTF_8));
            operations.writeAt(opened.getFirst(), 0, text, op -> {}).start();
            world.run();
            assertThat(world.readFile(path)).asString(UTF_8).isEqualTo("written");
            opened.getFirst().close();
            assertThat(world.openDescriptors()).isZero();
        }
    }

    @Test
    @Clause("B-6")
    void open_ofAFileThatIsNotThere_failsAsOnTheRealKernel() {
        try (var world = SimulatedWorld.seed(1)) {
            List<SystemCallException> failures = new ArrayList<>();
            Operations.on(world.loop())
                    .open(
                            Path.of("/nowhere"),
                            op -> failures.add(op.failure()),
                            StandardOpenOption.READ)
                    .start();
            world.run();
            assertThat(failures)
                    .singleElement()
                    .extracting(SystemCallException::errnoName)
                    .isEqualTo("ENOENT");
        }
    }

    // ------------------------------------------------------------------ signals

    @Test
    @Clause("B-6")
    void signal_reachesWhoeverTakesItOnThisLoopOnly() {
        try (var world = SimulatedWorld.seed(1);
                var other = SimulatedWorld.seed(1)) {
            List<String> log = new ArrayList<>();
            Signals.on(world.loop(), Signal.SIGTERM, signal -> log.add("first " + signal));
            Signals.on(world.loop(), Signal.SIGTERM, signal -> log.add("second " + signal));
            Signals.on(other.loop(), Signal.SIGTERM, signal -> log.add("elsewhere"));
            world.signal(Signal.SIGTERM);
            world.signal(Signal.SIGHUP);
            world.run();
            other.run();
            assertThat(log).containsExactlyInAnyOrder("first SIGTERM", "second SIGTERM");
        }
    }

    // ------------------------------------------------------------------ failure

    @Test
    @Clause("B-6")
    void run_ofACallbackThatThrows_throwsItWithSeedAndTrace() {
        try (var world = SimulatedWorld.seed(4711)) {
            world.loop()
                    .after(
                            Duration.ofSeconds(1),
                            timer -> {
                                throw new IllegalStateException("mine");
                            });
            assertThatThrownBy(() -> world.advance(HOUR))
                    .isInstanceOf(IllegalStateException.class)
                    .satisfies(
                            e ->
                                    assertThat(e.getSuppressed())
                                            .singleElement()
                                            .asString()
                                            .contains("4711", "SimulatedWorld.seed(4711L)"));
        }
    }

    @Test
    @Clause("B-6")
    void loopRun_withNothingToWaitFor_saysSoInsteadOfHanging() {
        try (var world = SimulatedWorld.seed(5)) {
            new EchoServer(world.loop(), 80);
            assertThatThrownBy(() -> world.loop().run())
                    .isInstanceOf(SimulationError.class)
                    .hasMessageContaining("waits forever")
                    .hasMessageContaining("seed 5");
        }
    }

    @Test
    @Clause("B-6")
    void watch_ofWhatStaysReadyAndIsNeverRead_isASpin() {
        try (var world = SimulatedWorld.seed(6)) {
            var pipe = world.pipe();
            world.loop().watch(pipe.writer(), WatchSpec.writing(ready -> {}));
            assertThatThrownBy(() -> world.advance(HOUR))
                    .isInstanceOf(SimulationError.class)
                    .hasMessageContaining("spins")
                    .hasMessageContaining("seed 6");
        }
    }

    @Test
    @Clause("B-6")
    void sockets_atAnAddressOfAnotherMachine_areRefused() {
        try (var world = SimulatedWorld.seed(1)) {
            var elsewhere = new InetSocketAddress("192.0.2.7", 1);
            assertThatThrownBy(() -> Sockets.datagram(world.loop(), elsewhere))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessageContaining("EADDRNOTAVAIL");
        }
    }

    @Test
    @Clause("B-6")
    void eachSeed_thatFails_namesTheSeedAndTheProperty() {
        assertThatThrownBy(
                        () ->
                                SimulatedWorld.eachSeed(
                                        10, world -> assertThat(world.seed()).isLessThan(3)))
                .isInstanceOf(SimulationError.class)
                .hasMessageContaining("seed 3")
                .hasMessageContaining("-Dgyre.seed=3")
                .hasCauseInstanceOf(AssertionError.class);
    }

    @Test
    @Clause("B-6")
    void eachSeed_ofATestWithACheckedException_namesTheSeed() {
        assertThatThrownBy(
                        () ->
                                SimulatedWorld.eachSeed(
                                        10,
                                        world -> {
                                            if (world.seed() == 4) {
                                                throw new IOException("no database");
                                            }
                                        }))
                .isInstanceOf(SimulationError.class)
                .hasMessageContaining("-Dgyre.seed=4")
                .hasRootCauseMessage("no database");
    }

    // ------------------------------------------------------------------ the same again

    private static Trace traceOf(long seed) {
        try (var world = SimulatedWorld.seed(seed, LoopConfig.DEFAULT).faults(Faults.all())) {
            new EchoServer(world.loop(), 80);
            for (int i = 0; i < 5; i++) {
                world.connect(80).send("client " + i + " ".repeat(5_000)).halfClose();
            }
            world.advance(Duration.ofSeconds(10));
            return world.trace();
        }
    }

    @Test
    @Clause("B-6")
    void seed_twice_givesTheSameRunToTheByte() {
        for (long seed = 0; seed < 20; seed++) {
            Trace first = traceOf(seed);
            Trace second = traceOf(seed);
            assertThat(second.lines()).isEqualTo(first.lines());
            assertThat(second.digest()).isEqualTo(first.digest());
        }
    }

    @Test
    @Clause("B-6")
    void seed_another_givesAnotherRun() {
        assertThat(traceOf(1).digest()).isNotEqualTo(traceOf(2).digest());
    }
}
