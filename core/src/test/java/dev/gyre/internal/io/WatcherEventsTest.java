package dev.gyre.internal.io;

import static dev.gyre.internal.io.TestDescriptors.read;
import static dev.gyre.internal.io.TestDescriptors.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.Memory;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Watchers of real descriptors: the callbacks of an event.
class WatcherEventsTest extends WatcherFixture {
    // ------------------------------------------------------------------ W-5: order and changes

    @Test
    @Clause({"W-5", "L-9"})
    void callbacks_ofOneEvent_runReadThenWrite() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(
                socket,
                WatchSpec.writing(says("write")).onRead(says("read")).onError(says("error")));
        runReady();
        assertThat(log).containsExactly("read", "write");
    }

    @Test
    @Clause("W-5")
    void read_thatUnwatches_keepsWriteFromRunning() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(
                socket,
                WatchSpec.reading(
                                watcher -> {
                                    log.add("read");
                                    watcher.unwatch();
                                })
                        .onWrite(says("write")));
        runReady();
        runReady();
        assertThat(log).containsExactly("read");
    }

    @Test
    @Clause("W-5")
    void read_thatClosesTheDescriptor_keepsWriteFromRunning() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(
                socket,
                WatchSpec.reading(
                                watcher -> {
                                    log.add("read");
                                    watcher.descriptor().close();
                                })
                        .onWrite(says("write")));
        runReady();
        assertThat(log).containsExactly("read");
    }

    @Test
    @Clause("W-5")
    void read_thatModifiesWriteAway_keepsItFromRunning() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(
                socket,
                WatchSpec.reading(
                                watcher -> {
                                    log.add("read");
                                    watcher.modify(WatchSpec.reading(says("again")));
                                })
                        .onWrite(says("write")));
        runReady();
        assertThat(log).containsExactly("read");
        runReady();
        assertThat(log).containsExactly("read", "again");
    }

    @Test
    @Clause("W-5")
    void read_thatAsksForWriteToo_getsItWithTheNextEvent() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(
                socket,
                WatchSpec.reading(
                        watcher -> {
                            log.add("read");
                            watcher.modify(WatchSpec.writing(says("write")).oneShot());
                        }));
        runReady();
        assertThat(log).containsExactly("read");
        runReady();
        assertThat(log).containsExactly("read", "write");
    }

    @Test
    @Clause({"W-5", "W-4"})
    void callback_thatUnwatchesEverything_isTheLastOfItsBatch() {
        List<Pipe> pipes = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            pipes.add(readyPipe());
        }
        for (Pipe pipe : pipes) {
            loop.watch(
                    pipe.reader(),
                    WatchSpec.reading(
                            watcher -> {
                                log.add("read");
                                pipes.forEach(other -> loop.unwatch(other.reader()));
                            }));
        }
        runReady();
        assertThat(log).containsExactly("read");
        assertThat(loop.metrics().watchers()).isZero();
        assertThat(loop.runUntilEmpty()).isZero();
    }

    @Test
    @Clause({"W-5", "L-7"})
    void runOne_withTwoCallbacksOfOneEvent_runsThemInTwoRuns() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(socket, WatchSpec.reading(says("read")).onWrite(says("write")).oneShot());
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("read");
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("read", "write");
    }

    @Test
    @Clause({"W-5", "M-1"})
    void microtask_betweenTwoCallbacksOfOneEvent_mayUnwatch() {
        try (EventLoop strict = EventLoop.open(LoopConfig.DEFAULT.withStrictMicrotasks(true))) {
            Descriptor socket = sockets().getFirst();
            sendTo(socket);
            strict.watch(
                    socket,
                    WatchSpec.reading(
                                    watcher -> {
                                        log.add("read");
                                        strict.microtask(watcher::unwatch);
                                    })
                            .onWrite(says("write")));
            strict.runFor(Duration.ZERO);
        }
        assertThat(log).containsExactly("read");
    }

    // ------------------------------------------------------------------ W-6: errors and hang-ups

    @Test
    @Clause("W-6")
    void error_withAnErrorCallback_callsOnlyThat() {
        Pipe pipe = pipe();
        pipe.reader().close(); // An error for the writing end.
        loop.watch(
                pipe.writer(),
                WatchSpec.writing(says("write"))
                        .onError(
                                watcher -> {
                                    log.add("error");
                                    assertThat(watcher.isError()).isTrue();
                                    watcher.unwatch();
                                }));
        runReady();
        assertThat(log).containsExactly("error");
    }

    @Test
    @Clause("W-6")
    void error_withoutAnErrorCallback_isReadiness() {
        Pipe pipe = pipe();
        pipe.reader().close();
        loop.watch(
                pipe.writer(),
                WatchSpec.writing(
                        watcher -> {
                            assertThatThrownBy(() -> write(pipe.writer(), "x"))
                                    .isInstanceOf(SystemCallException.class)
                                    .hasMessageContaining("EPIPE");
                            log.add("found it");
                            watcher.unwatch();
                        }));
        runReady();
        assertThat(log).containsExactly("found it");
    }

    @Test
    @Clause("W-6")
    void hangUp_withPendingData_letsItBeReadBeforeTheEnd() {
        Pipe pipe = pipe();
        write(pipe.writer(), "last words");
        pipe.writer().close();
        loop.watch(
                pipe.reader(),
                WatchSpec.reading(
                        watcher -> {
                            assertThat(watcher.isHangUp()).isTrue();
                            String read = read(watcher.descriptor());
                            log.add(read);
                            if (read.equals("end")) {
                                watcher.unwatch();
                            }
                        }));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("last words", "end");
    }

    @Test
    @Clause({"W-6", "W-9"})
    void hangUp_thatOnlyAWriterIsToldOf_doesNotSpin() {
        Pipe pipe = pipe();
        pipe.writer().close();
        loop.watch(pipe.reader(), WatchSpec.writing(says("write")));
        assertThat(waitsOf(Duration.ofMillis(20))).isLessThan(6);
        assertThat(log).isEmpty();
    }

    // ------------------------------------------------------------------ W-7: edges, one-shot

    @Test
    @Clause("W-7")
    void edgeTriggered_notDrained_isToldOncePerEdge() {
        Pipe pipe = readyPipe();
        loop.watch(pipe.reader(), WatchSpec.reading(says("edge")).edgeTriggered());
        runReady();
        runReady();
        assertThat(log).as("the loop does not drain, nor tell again").containsExactly("edge");
        write(pipe.writer(), "y");
        runReady();
        runReady();
        assertThat(log).containsExactly("edge", "edge");
        assertThat(read(pipe.reader())).isEqualTo("xy");
    }

    @Test
    @Clause("W-7")
    void levelTriggered_notDrained_isToldAgain() {
        Pipe pipe = readyPipe();
        loop.watch(pipe.reader(), WatchSpec.reading(says("level")));
        runReady();
        runReady();
        assertThat(log).containsExactly("level", "level");
    }

    @Test
    @Clause("W-7")
    void oneShot_withSeveralCallbacks_isDisarmedAfterAllOfThem() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        Watcher watcher =
                loop.watch(
                        socket,
                        WatchSpec.reading(w -> log.add("read " + w.isArmed()))
                                .onWrite(w -> log.add("write " + w.isArmed()))
                                .oneShot());
        runReady();
        runReady();
        assertThat(log).containsExactly("read true", "write true");
        assertThat(watcher.isArmed()).isFalse();
        assertThat(watcher.isWatching()).isTrue();
        assertThat(loop.runUntilEmpty()).as("disarmed, it keeps nothing alive").isZero();
        watcher.rearm();
        runReady();
        assertThat(log).hasSize(4);
    }

    @Test
    @Clause("W-7")
    void oneShot_armedAgainInItsOwnCallback_staysArmed() {
        Pipe pipe = readyPipe();
        Watcher watcher =
                loop.watch(
                        pipe.reader(),
                        WatchSpec.reading(
                                        w -> {
                                            log.add("read");
                                            w.rearm();
                                        })
                                .oneShot());
        runReady();
        assertThat(watcher.isArmed()).isTrue();
        runReady();
        assertThat(log).containsExactly("read", "read");
    }

    @Test
    @Clause("W-7")
    void oneShot_watchedAgainInItsOwnCallback_isArmed() {
        Pipe pipe = readyPipe();
        loop.watch(
                pipe.reader(),
                WatchSpec.reading(w -> loop.watch(w.descriptor(), WatchSpec.reading(says("again"))))
                        .oneShot());
        runReady();
        runReady();
        assertThat(log).containsExactly("again");
    }

    @Test
    @Clause("W-7")
    void oneShotAndEdgeTriggered_isToldOnceWhateverComes() {
        Pipe pipe = readyPipe();
        Watcher watcher =
                loop.watch(
                        pipe.reader(), WatchSpec.reading(says("once")).edgeTriggered().oneShot());
        runReady();
        write(pipe.writer(), "y");
        runReady();
        assertThat(log).containsExactly("once");
        watcher.rearm();
        runReady();
        assertThat(log).containsExactly("once", "once");
    }

    // ------------------------------------------------------------------ W-8: what can be watched

    @Test
    @Clause("W-8")
    void watch_ofAnEventfdAndATimerfd_works() {
        Descriptor event = TestDescriptors.eventfd(1);
        opened.add(event);
        LinuxPollCalls kernel = new LinuxPollCalls();
        int flags = Linux.TFD_CLOEXEC | Linux.TFD_NONBLOCK;
        Descriptor timer = Descriptor.own(kernel.timerfdCreate(Linux.CLOCK_MONOTONIC, flags));
        opened.add(timer);
        MemorySegment soon = Memory.allocate(Linux.SIZEOF_ITIMERSPEC);
        Memory.putLong(
                soon.address() + Linux.OFFSETOF_ITIMERSPEC_VALUE + Linux.OFFSETOF_TIMESPEC_NANOS,
                1_000_000);
        assertThat(kernel.timerfdSettime(timer.fd(), 0, soon.address())).isZero();
        loop.watch(event, WatchSpec.reading(says("eventfd")).oneShot());
        loop.watch(timer, WatchSpec.reading(says("timerfd")).oneShot());
        loop.runUntilEmpty();
        assertThat(log).containsExactly("eventfd", "timerfd");
    }

    @Test
    @Clause("W-8")
    void watch_ofARegularFile_saysThatItCannotBePolled() throws IOException {
        Path pom = Path.of(System.getProperty("gyre.root"), "pom.xml");
        try (Descriptor file = openFile(pom)) {
            for (WatchSpec watch : List.of(WatchSpec.reading(says("read")), WatchSpec.nothing())) {
                assertThatThrownBy(() -> loop.watch(file, watch))
                        .isInstanceOf(SystemCallException.class)
                        .hasMessageContaining("descriptor " + file.fd())
                        .hasMessageContaining("EPERM")
                        .hasMessageContaining("a regular file is always ready");
            }
        }
        assertThat(loop.metrics().watchers()).isZero();
        assertThat(loop.runUntilEmpty()).isZero();
    }

    /// Finds the fd of a file that Java opened, by its name.
    private static Descriptor openFile(Path path) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r");
                FileChannel channel = file.getChannel()) {
            assertThat(channel.isOpen()).isTrue();
            for (int fd = 3; fd < 10_000; fd++) {
                Path link = Path.of("/proc/self/fd/" + fd);
                if (Files.isSymbolicLink(link)
                        && Files.readSymbolicLink(link).equals(path.toRealPath())) {
                    return TestDescriptors.duplicate(Descriptor.borrow(fd));
                }
            }
        }
        throw new AssertionError("no descriptor is " + path);
    }

    @Test
    @Clause("W-8")
    void watch_thatTheKernelRefuses_leavesNobodyWatching() {
        Plan plan = new Plan();
        EpollBackend backend = EpollBackend.open(() -> new FaultyKernel(plan), 16);
        try (EventLoop faulty = Loop.open(LoopConfig.DEFAULT, backend);
                Pipe pipe = readyPipe()) {
            Watcher old = faulty.watch(pipe.reader(), WatchSpec.reading(says("old")));
            plan.fail("epoll_ctl", Errno.ENOMEM);
            assertThatThrownBy(() -> faulty.watch(pipe.reader(), WatchSpec.reading(says("new"))))
                    .isInstanceOf(SystemCallException.class);
            assertThat(old.isWatching()).isFalse();
            assertThat(faulty.metrics().watchers()).isZero();

            Watcher watcher = faulty.watch(pipe.reader(), WatchSpec.reading(says("third")));
            plan.fail("epoll_ctl", Errno.EBADF);
            assertThatThrownBy(() -> watcher.modify(WatchSpec.nothing().onWrite(says("write"))))
                    .isInstanceOf(SystemCallException.class);
            assertThat(watcher.isWatching()).isFalse();
            assertThat(faulty.runUntilEmpty()).isZero();
        }
        assertThat(log).isEmpty();
    }

    // ------------------------------------------------------------------ W-9: empty masks

    @Test
    @Clause("W-9")
    void watch_forNothing_reportsNothingAndDoesNotSpin() {
        Pipe pipe = readyPipe();
        pipe.writer().close();
        Watcher watcher = loop.watch(pipe.reader(), WatchSpec.nothing().onError(says("error")));
        assertThat(watcher.isArmed()).isFalse();
        assertThat(waitsOf(Duration.ofMillis(20))).isLessThan(5);
        assertThat(log).isEmpty();
        watcher.modify(WatchSpec.reading(says("read")).oneShot());
        runReady();
        assertThat(log).containsExactly("read");
    }

    @Test
    @Clause("W-9")
    void modify_toNothing_stopsAHangUpFromSpinning() {
        Pipe pipe = pipe();
        pipe.writer().close();
        Watcher watcher =
                loop.watch(
                        pipe.reader(),
                        WatchSpec.reading(
                                w -> {
                                    log.add("hang-up");
                                    w.modify(WatchSpec.nothing());
                                }));
        assertThat(waitsOf(Duration.ofMillis(20))).isLessThan(7);
        assertThat(log).containsExactly("hang-up");
        assertThat(watcher.isWatching()).isTrue();
    }
}
