package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// The contract of all backends. A subclass opens one, and creates descriptors to watch.
public abstract class BackendContract {
    private static final long HOUR = Duration.ofHours(1).toNanos();
    private static final int BOTH = Readiness.READ | Readiness.WRITE;

    private final List<Conduit> conduits = new ArrayList<>();

    /// A backend that collects at most 16 events at a time. The test closes it.
    protected abstract Backend open();

    protected abstract Conduit pipe();

    protected abstract Conduit sockets();

    /// Whether its kernel accepts requests from the loop thread only, which then has to be woken.
    protected boolean wakesToRegister() {
        return false;
    }

    /// Opens a regular file, and closes it.
    protected interface FileUser {
        void use(int fd);
    }

    protected void withRegularFile(FileUser user) throws IOException {
        Path path = Path.of(System.getProperty("gyre.root"), "pom.xml");
        try (TestFile file = TestFile.open(path)) {
            user.use(file.fd());
        }
    }

    @AfterEach
    void closeConduits() {
        conduits.forEach(Conduit::close);
        nothingLeaked();
    }

    /// Called when the test has closed its descriptors.
    protected void nothingLeaked() {}

    private Conduit newPipe() {
        Conduit pipe = pipe();
        conduits.add(pipe);
        return pipe;
    }

    private Conduit newSockets() {
        Conduit sockets = sockets();
        conduits.add(sockets);
        return sockets;
    }

    /// Polls once, and returns the bits of each event.
    private static List<Integer> look(Backend backend) {
        backend.pollNow();
        return RecordingHandler.dispatchAll(backend);
    }

    // ------------------------------------------------------------------ waiting

    @Test
    @Clause("T-6")
    void pollUntil_withNothingReady_returnsAtTheDeadlineAndNeverBefore() {
        Backend backend = open();
        for (int i = 0; i < 20; i++) {
            long deadline = backend.nanoTime() + 300_000L;
            backend.pollUntil(deadline);
            assertThat(backend.nanoTime() - deadline).isNotNegative();
            assertThat(backend.dispatchNext()).isNull();
        }
        backend.pollUntil(backend.nanoTime() - 1);
        backend.close();
    }

    @Test
    @Clause("Q-6")
    void wake_beforeAWait_endsIt() {
        Backend backend = open();
        backend.wake();
        backend.pollUntil(backend.nanoTime() + HOUR);
        assertThat(backend.dispatchNext()).as("a wake-up is no event").isNull();
        assertThat(backend.wakeups()).isEqualTo(1);
        backend.close();
    }

    @Test
    @Clause("Q-6")
    void wake_repeated_isOneSignalUntilItIsDrained() {
        Backend backend = open();
        for (int round = 1; round <= 3; round++) {
            backend.wake();
            backend.wake();
            assertThat(backend.wakeups()).isEqualTo(round);
            assertThat(look(backend)).isEmpty();
        }
        backend.close();
    }

    @Test
    @Clause("Q-6")
    void wake_onceDrained_doesNotWakeAgain() {
        Backend backend = open();
        backend.wake();
        assertThat(look(backend)).isEmpty();
        long deadline = backend.nanoTime() + 2_000_000;
        backend.pollUntil(deadline);
        assertThat(backend.nanoTime() - deadline)
                .as("a wait that the old signal does not end")
                .isNotNegative();
        backend.close();
    }

    @Test
    @Clause({"Q-5", "T-6"})
    void loop_overTheBackend_keepsItsTimersAndItsWakeUps() throws InterruptedException {
        Loop loop = Loop.open(LoopConfig.DEFAULT, open());
        List<Long> lateness = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            loop.after(
                    Duration.ofMillis(i),
                    timer -> lateness.add(loop.backend().nanoTime() - timer.firedDeadlineNanos()));
        }
        loop.runUntilEmpty();
        assertThat(lateness).hasSize(5).allMatch(late -> late >= 0);
        Thread runner = Thread.ofPlatform().start(loop::run);
        for (int i = 0; i < 100; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            loop.submit(ran::countDown);
            ran.await();
        }
        loop.close();
        runner.join();
    }

    // ------------------------------------------------------------------ what is told

    @Test
    @Clause("B-3")
    void dispatchNext_reportsTheEventsOfTheKernel() {
        Backend backend = open();
        Conduit pipe = newPipe();
        RecordingHandler writer = new RecordingHandler();
        RecordingHandler reader = new RecordingHandler();
        backend.register(pipe.writer(), Readiness.WRITE, writer);
        backend.register(pipe.reader(), Readiness.READ, reader);
        backend.pollNow();
        assertThat(backend.dispatchNext()).isSameAs(writer);
        assertThat(writer.events()).isEqualTo(Readiness.WRITE);
        assertThat(backend.dispatchNext()).isNull();
        backend.deregister(pipe.writer(), writer);
        pipe.write();
        backend.pollNow();
        assertThat(backend.dispatchNext()).isSameAs(reader);
        assertThat(reader.events()).isEqualTo(Readiness.READ);
        backend.deregister(pipe.reader(), reader);
        backend.deregister(pipe.reader(), reader);
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause("W-5")
    void dispatchNext_ofADescriptorThatIsReadableAndWritable_isOneEvent() {
        Backend backend = open();
        Conduit sockets = newSockets();
        Conduit others = newSockets();
        for (int mode : new int[] {0, Readiness.EDGE, Readiness.ONE_SHOT}) {
            backend.register(sockets.reader(), BOTH | mode, new RecordingHandler());
            backend.register(others.reader(), BOTH | mode, new RecordingHandler());
            assertThat(look(backend)).containsExactly(Readiness.WRITE, Readiness.WRITE);
            sockets.write();
            others.write();
            backend.modify(sockets.reader(), BOTH | mode);
            backend.modify(others.reader(), BOTH | mode);
            int both = Readiness.READ | Readiness.WRITE;
            assertThat(look(backend)).containsExactly(both, both);
            sockets.read();
            others.read();
        }
        backend.close();
    }

    @Test
    @Clause("W-6")
    void hangUp_withSomethingLeftToRead_tellsBoth() {
        Backend backend = open();
        Conduit pipe = newPipe();
        backend.register(pipe.reader(), Readiness.READ, new RecordingHandler());
        pipe.write();
        pipe.closeWriter();
        assertThat(look(backend)).containsExactly(Readiness.READ | Readiness.HANGUP);
        pipe.read();
        assertThat(look(backend)).containsExactly(Readiness.HANGUP);
        backend.close();
    }

    @Test
    @Clause("W-6")
    void peerClosed_ofASocket_isReadableAndHungUp() {
        Backend backend = open();
        Conduit sockets = newSockets();
        backend.register(sockets.reader(), BOTH, new RecordingHandler());
        sockets.closeWriter();
        List<Integer> events = look(backend);
        assertThat(events).hasSize(1);
        int all = Readiness.READ | Readiness.WRITE | Readiness.HANGUP;
        assertThat(events.getFirst() & all).isEqualTo(all);
        backend.close();
    }

    @Test
    @Clause("W-6")
    void writer_whoseReaderIsGone_hasAnError() {
        Backend backend = open();
        for (boolean goneBefore : new boolean[] {true, false}) {
            for (int mode : new int[] {0, Readiness.EDGE, Readiness.ONE_SHOT}) {
                Conduit pipe = newPipe();
                RecordingHandler handler = new RecordingHandler();
                if (goneBefore) {
                    pipe.closeReader();
                }
                backend.register(pipe.writer(), Readiness.WRITE | mode, handler);
                pipe.closeReader();
                int expected = Readiness.WRITE | Readiness.ERROR;
                assertThat(look(backend)).containsExactly(expected);
                assertThat(look(backend))
                        .as("again, if it is level-triggered")
                        .isEqualTo(mode == 0 ? List.of(expected) : List.of());
                backend.modify(pipe.writer(), Readiness.WRITE | mode);
                assertThat(look(backend)).containsExactly(expected);
                backend.deregister(pipe.writer(), handler);
                assertThat(look(backend)).isEmpty();
            }
        }
        backend.close();
    }

    @Test
    @Clause("W-7")
    void level_isToldForAsLongAsItLasts() {
        Backend backend = open();
        Conduit pipe = newPipe();
        backend.register(pipe.reader(), Readiness.READ, new RecordingHandler());
        assertThat(look(backend)).isEmpty();
        pipe.write();
        assertThat(look(backend)).containsExactly(Readiness.READ);
        assertThat(look(backend)).containsExactly(Readiness.READ);
        pipe.read();
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause("W-7")
    void edge_isToldOnceAndAgainWithEachChange() {
        Backend backend = open();
        Conduit pipe = newPipe();
        pipe.write();
        backend.register(pipe.reader(), Readiness.READ | Readiness.EDGE, new RecordingHandler());
        assertThat(look(backend)).containsExactly(Readiness.READ);
        assertThat(look(backend)).isEmpty();
        pipe.write();
        assertThat(look(backend)).as("another edge").containsExactly(Readiness.READ);
        assertThat(look(backend)).isEmpty();
        backend.modify(pipe.reader(), Readiness.READ | Readiness.EDGE);
        assertThat(look(backend)).as("a change reports again").containsExactly(Readiness.READ);
        assertThat(look(backend)).isEmpty();
        backend.modify(pipe.reader(), Readiness.READ);
        assertThat(look(backend)).containsExactly(Readiness.READ);
        assertThat(look(backend)).as("no longer an edge").containsExactly(Readiness.READ);
        backend.modify(pipe.reader(), Readiness.READ | Readiness.EDGE);
        assertThat(look(backend)).containsExactly(Readiness.READ);
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause("W-7")
    void oneShot_ofBothDirections_isToldOnceInAll() {
        Backend backend = open();
        Conduit sockets = newSockets();
        for (int mode : new int[] {Readiness.ONE_SHOT, Readiness.ONE_SHOT | Readiness.EDGE}) {
            backend.register(sockets.reader(), BOTH | mode, new RecordingHandler());
            assertThat(look(backend)).containsExactly(Readiness.WRITE);
            sockets.write();
            assertThat(look(backend)).as("reading was disarmed by writing").isEmpty();
            backend.modify(sockets.reader(), BOTH | mode);
            assertThat(look(backend)).containsExactly(Readiness.READ | Readiness.WRITE);
            assertThat(look(backend)).isEmpty();
            sockets.read();
        }
        backend.close();
    }

    @Test
    @Clause("W-7")
    void oneShot_armedAgainBeforeItsEventIsTaken_staysArmed() {
        Backend backend = open();
        Conduit sockets = newSockets();
        backend.register(sockets.reader(), BOTH | Readiness.ONE_SHOT, new RecordingHandler());
        backend.pollNow(); // Writable, but not dispatched yet.
        backend.modify(sockets.reader(), Readiness.READ | Readiness.ONE_SHOT);
        assertThat(RecordingHandler.dispatchAll(backend))
                .allSatisfy(events -> assertThat(events).isEqualTo(Readiness.WRITE));
        sockets.write();
        assertThat(look(backend)).as("the last interest").containsExactly(Readiness.READ);
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause({"B-3", "W-3"})
    void dispatchNext_ofAnEventForAnEarlierRegistration_passesItOver() {
        Backend backend = open();
        Conduit pipe = newPipe();
        List<String> log = new ArrayList<>();
        ReadinessHandler old = bits -> log.add("old");
        backend.register(pipe.reader(), Readiness.READ, old);
        pipe.write();
        backend.pollNow();
        // Between the kernel's event and its dispatch the number gets another owner.
        backend.deregister(pipe.reader(), old);
        backend.register(pipe.reader(), Readiness.READ, bits -> log.add("new"));
        backend.deregister(pipe.reader(), old); // No longer its registration.
        assertThat(backend.dispatchNext()).isNull();
        backend.pollNow();
        assertThat(backend.dispatchNext()).isNotNull();
        assertThat(log).containsExactly("new");
        backend.close();
    }

    @Test
    @Clause("B-3")
    void pollNow_withMoreReadyThanTheArrayHolds_bringsThemInBatches() {
        Backend backend = open();
        for (int i = 0; i < 40; i++) {
            Conduit pipe = newPipe();
            backend.register(
                    pipe.reader(), Readiness.READ | Readiness.EDGE, new RecordingHandler());
            pipe.write();
        }
        List<Integer> batches = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            batches.add(look(backend).size());
        }
        assertThat(batches).containsExactly(16, 16, 8, 0);
        backend.close();
    }

    // ------------------------------------------------------------------ registering

    @Test
    @Clause("B-3")
    void register_whileTheLoopSleeps_takesEffectAtOnce() throws InterruptedException {
        Loop loop = Loop.open(LoopConfig.DEFAULT, open());
        Thread runner = Thread.ofPlatform().start(loop::run);
        while (loop.state() != LoopState.SLEEPING) {
            Thread.onSpinWait();
        }
        Conduit pipe = newPipe();
        CountDownLatch ready = new CountDownLatch(1);
        loop.backend()
                .register(
                        pipe.reader(), Readiness.READ | Readiness.EDGE, bits -> ready.countDown());
        if (!wakesToRegister()) {
            assertThat(loop.state())
                    .as("registering did not wake the loop")
                    .isEqualTo(LoopState.SLEEPING);
            assertThat(loop.metrics().wakeups()).isZero();
        }
        pipe.write();
        ready.await();
        loop.close();
        runner.join();
    }

    @Test
    @Clause("W-1")
    void register_ofARegisteredNumber_replacesInterestAndHandler() {
        Backend backend = open();
        Conduit sockets = newSockets();
        backend.register(sockets.reader(), BOTH, new RecordingHandler());
        RecordingHandler second = new RecordingHandler();
        backend.register(sockets.reader(), Readiness.READ, second);
        assertThat(look(backend)).as("only the first wanted writing").isEmpty();
        sockets.write();
        backend.pollNow();
        assertThat(backend.dispatchNext()).isSameAs(second);
        assertThat(backend.dispatchNext()).isNull();
        backend.close();
    }

    @Test
    @Clause("W-9")
    void modify_toAnEmptyMask_reportsNotEvenAHangUp() {
        Backend backend = open();
        Conduit pipe = newPipe();
        backend.register(pipe.reader(), Readiness.READ, new RecordingHandler());
        backend.modify(pipe.reader(), 0);
        pipe.closeWriter();
        assertThat(look(backend)).isEmpty();
        backend.modify(pipe.reader(), Readiness.READ);
        assertThat(look(backend)).containsExactly(Readiness.HANGUP);
        backend.close();
    }

    @Test
    @Clause("W-9")
    void register_withAnEmptyMask_reportsNothingUntilItIsChanged() {
        Backend backend = open();
        Conduit pipe = newPipe();
        pipe.closeWriter();
        backend.register(pipe.reader(), 0, new RecordingHandler());
        assertThat(look(backend)).isEmpty();
        backend.modify(pipe.reader(), Readiness.READ);
        assertThat(look(backend)).containsExactly(Readiness.HANGUP);
        backend.close();
    }

    @Test
    void modify_ofAnUnknownNumber_doesNothing() {
        Backend backend = open();
        Conduit pipe = newPipe();
        pipe.write();
        backend.modify(pipe.reader(), Readiness.READ);
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause({"W-4", "W-3"})
    void close_ofARegisteredDescriptor_isForgottenByTheKernelAndItsNumberCanComeAgain() {
        Backend backend = open();
        Conduit first = newPipe();
        first.write();
        RecordingHandler old = new RecordingHandler();
        backend.register(first.reader(), Readiness.READ, old);
        int number = first.reader();
        first.closeReader();
        first.closeWriter();
        assertThat(look(backend)).isEmpty();
        backend.deregister(number, old);
        Conduit second = newPipe();
        assertThat(second.reader()).as("the lowest free number").isEqualTo(number);
        backend.register(second.reader(), Readiness.READ, new RecordingHandler());
        second.write();
        assertThat(look(backend)).containsExactly(Readiness.READ);
        backend.close();
    }

    @Test
    @Clause("W-8")
    void register_ofARegularFile_isRefusedAndForgotten() throws IOException {
        Backend backend = open();
        withRegularFile(
                fd -> {
                    for (int interest : new int[] {Readiness.READ, 0}) {
                        assertThatThrownBy(
                                        () ->
                                                backend.register(
                                                        fd, interest, new RecordingHandler()))
                                .isInstanceOf(SystemCallException.class)
                                .hasMessageContaining("EPERM")
                                .hasMessageContaining("a regular file is always ready");
                    }
                    backend.modify(fd, Readiness.READ);
                    assertThat(look(backend)).isEmpty();
                });
        backend.close();
    }

    @Test
    @Clause("E-1")
    void register_ofAClosedDescriptor_isRefused() {
        Backend backend = open();
        Conduit pipe = newPipe();
        pipe.close();
        assertThatThrownBy(
                        () ->
                                backend.register(
                                        pipe.writer(), Readiness.READ, new RecordingHandler()))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EBADF");
        backend.close();
    }

    @Test
    void register_ofNoDescriptor_isRefused() {
        Backend backend = open();
        assertThatThrownBy(() -> backend.register(-1, Readiness.READ, new RecordingHandler()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
        backend.close();
    }

    @Test
    @Clause({"S-3", "Q-6"})
    void anything_afterClose_isRefusedOrHarmless() {
        Backend backend = open();
        Conduit pipe = newPipe();
        RecordingHandler handler = new RecordingHandler();
        backend.register(pipe.reader(), Readiness.READ, handler);
        backend.close();
        backend.close();
        assertThatThrownBy(() -> backend.register(pipe.reader(), Readiness.READ, handler))
                .isInstanceOf(LoopTerminatedException.class);
        assertThatThrownBy(() -> backend.modify(pipe.reader(), Readiness.READ))
                .isInstanceOf(LoopTerminatedException.class);
        backend.deregister(pipe.reader(), handler);
        backend.wake();
        assertThat(backend.wakeups()).isZero();
    }
}
