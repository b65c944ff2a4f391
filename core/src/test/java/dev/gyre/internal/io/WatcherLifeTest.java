package dev.gyre.internal.io;

import static dev.gyre.internal.io.TestDescriptors.read;
import static dev.gyre.internal.io.TestDescriptors.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Watchers of real descriptors: registration, replacement and removal.
class WatcherLifeTest extends WatcherFixture {
    // ------------------------------------------------------------------ W-1: one watcher per fd

    @Test
    @Clause("W-1")
    void watch_again_replacesTheOldWatcherWithoutACallback() {
        Pipe pipe = pipe();
        Watcher old = loop.watch(pipe.reader(), WatchSpec.reading(says("old")));
        Watcher replacement = loop.watch(pipe.reader(), WatchSpec.reading(says("new")).oneShot());
        runReady();
        assertThat(log).as("replacing calls nobody").isEmpty();
        assertThat(old.isWatching()).isFalse();
        assertThat(replacement.isWatching()).isTrue();
        assertThat(loop.metrics().watchers()).isEqualTo(1);
        write(pipe.writer(), "x");
        runReady();
        assertThat(log).containsExactly("new");
    }

    @Test
    @Clause("W-1")
    void watch_ofTheSameNumberThroughAnotherDescriptor_replacesToo() {
        Pipe pipe = readyPipe();
        Descriptor borrowed = Descriptor.borrow(pipe.reader().fd());
        Watcher old = loop.watch(pipe.reader(), WatchSpec.reading(says("old")));
        loop.watch(borrowed, WatchSpec.reading(says("new")).oneShot());
        pipe.reader().isOpen();
        runReady();
        assertThat(log).containsExactly("new");
        assertThat(old.isWatching()).isFalse();
        loop.unwatch(pipe.reader()); // Its watcher was replaced; the other descriptor's stays.
        assertThat(loop.metrics().watchers()).isEqualTo(1);
        borrowed.close();
        assertThat(pipe.reader().isOpen()).as("borrowed numbers stay open").isTrue();
        assertThat(read(pipe.reader())).isEqualTo("x");
    }

    @Test
    @Clause({"W-1", "W-5"})
    void watch_ofTheDescriptorThatIsBeingDispatched_dropsTheRestOfTheEvent() {
        Descriptor socket = sockets().getFirst();
        sendTo(socket);
        loop.watch(
                socket,
                WatchSpec.reading(
                                watcher -> {
                                    log.add("old read");
                                    loop.watch(
                                            socket, WatchSpec.writing(says("new write")).oneShot());
                                })
                        .onWrite(says("old write")));
        runReady();
        assertThat(log).containsExactly("old read");
        runReady();
        assertThat(log).containsExactly("old read", "new write");
    }

    // ------------------------------------------------------------------ W-2, W-3: end and reuse

    @Test
    @Clause({"W-2", "W-3"})
    void event_forADescriptorThatWasCollected_isDroppedAndTheWatcherPurged() {
        Pipe pipe = pipe();
        WeakReference<Descriptor> gone = watchWithoutKeeping(pipe.reader().fd());
        collect(gone);
        write(pipe.writer(), "x");
        assertThat(loop.runFor(Duration.ZERO)).isZero();
        assertThat(log).isEmpty();
        assertThat(loop.metrics().watchers()).isZero();
        assertThat(loop.runUntilEmpty()).as("nothing keeps the loop alive").isZero();
    }

    private WeakReference<Descriptor> watchWithoutKeeping(int fd) {
        Descriptor borrowed = Descriptor.borrow(fd);
        List<String> words = log;
        loop.watch(borrowed, WatchSpec.reading(watcher -> words.add("read")));
        return new WeakReference<>(borrowed);
    }

    private static void collect(WeakReference<?> reference) {
        for (int attempt = 0; reference.get() != null; attempt++) {
            assertThat(attempt).as("still reachable: who holds it?").isLessThan(100);
            System.gc();
        }
    }

    @Test
    @Clause({"W-2", "L-8"})
    void watcher_ofADescriptorThatWasCollected_keepsNoLoopAlive() {
        Pipe pipe = pipe();
        collect(watchWithoutKeeping(pipe.reader().fd()));
        for (int attempt = 0; loop.metrics().watchers() > 0; attempt++) {
            assertThat(attempt).as("the collector never says so").isLessThan(1_000);
            loop.runFor(Duration.ZERO); // A tick reclaims without an event.
            System.gc();
        }
        assertThat(loop.runUntilEmpty()).isZero();
        assertThat(pipe.reader().isOpen()).as("it was only borrowed").isTrue();
    }

    @Test
    @Clause("W-2")
    void descriptor_ofAWatcher_isThereInTheCallbackAndNotKeptBeyond() {
        Pipe pipe = readyPipe();
        List<Watcher> watchers = new ArrayList<>();
        WeakReference<Descriptor> gone = watchKeepingTheWatcher(pipe.reader().fd(), watchers);
        runReady();
        assertThat(log).containsExactly("x");
        collect(gone);
        assertThatThrownBy(() -> watchers.getFirst().descriptor())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was collected");
    }

    private WeakReference<Descriptor> watchKeepingTheWatcher(int fd, List<Watcher> into) {
        Descriptor borrowed = Descriptor.borrow(fd);
        List<String> words = log;
        into.add(
                loop.watch(
                        borrowed,
                        WatchSpec.reading(watcher -> words.add(read(watcher.descriptor())))));
        loop.runFor(Duration.ZERO);
        return new WeakReference<>(borrowed);
    }

    @Test
    @Clause("W-3")
    void descriptors_closedByEachOthersCallback_reachOnlyTheFirst() {
        Pipe a = readyPipe();
        Pipe b = readyPipe();
        loop.watch(a.reader(), closing("a", b.reader()));
        loop.watch(b.reader(), closing("b", a.reader()));
        runReady();
        assertThat(log).hasSize(1);
        assertThat(loop.metrics().watchers()).isEqualTo(1);
    }

    private WatchSpec closing(String name, Descriptor other) {
        return WatchSpec.reading(
                watcher -> {
                    log.add(name);
                    other.close();
                    loop.unwatch(watcher.descriptor());
                    loop.watch(watcher.descriptor(), WatchSpec.nothing());
                });
    }

    @Test
    @Clause("W-3")
    void number_closedAndReusedBetweenEventAndDispatch_reachesNeitherOldNorNew() {
        Pipe first = readyPipe();
        Pipe second = readyPipe();
        WatchSpec reuse =
                WatchSpec.reading(
                        watcher -> {
                            Pipe other = watcher.descriptor() == first.reader() ? second : first;
                            int number = other.reader().fd();
                            other.reader().close();
                            Descriptor heir = TestDescriptors.eventfd(0); // Never readable.
                            opened.add(heir);
                            assertThat(heir.fd())
                                    .as("the kernel gives the lowest free number again")
                                    .isEqualTo(number);
                            loop.watch(heir, WatchSpec.reading(says("heir")));
                            log.add("reused");
                            watcher.unwatch();
                        });
        loop.watch(first.reader(), reuse);
        loop.watch(second.reader(), reuse);
        runReady();
        runReady();
        assertThat(log).containsExactly("reused");
        assertThat(loop.metrics().watchers()).isEqualTo(1);
    }

    @Test
    @Clause("W-3")
    void number_closedAndReusedWithoutBeingWatched_reachesNobody() {
        Pipe first = readyPipe();
        Pipe second = readyPipe();
        WatchSpec reuse =
                WatchSpec.reading(
                        watcher -> {
                            Pipe other = watcher.descriptor() == first.reader() ? second : first;
                            other.reader().close();
                            opened.add(TestDescriptors.eventfd(1)); // Readable at once.
                            log.add("reused");
                            watcher.unwatch();
                        });
        loop.watch(first.reader(), reuse);
        loop.watch(second.reader(), reuse);
        runReady();
        runReady();
        assertThat(log).containsExactly("reused");
        assertThat(loop.metrics().watchers()).isZero();
    }

    @Test
    @Clause("W-3")
    void close_ofAWatchedDescriptor_endsItsWatcherAtOnce() {
        Pipe pipe = readyPipe();
        Watcher watcher = loop.watch(pipe.reader(), WatchSpec.reading(says("read")));
        pipe.reader().close();
        assertThat(watcher.isWatching()).isFalse();
        assertThat(loop.metrics().watchers()).isZero();
        assertThat(loop.runUntilEmpty()).isZero();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("W-3")
    void close_whileADuplicateOfTheNumberLives_doesNotMakeTheLoopSpin() {
        Pipe pipe = readyPipe();
        opened.add(TestDescriptors.duplicate(pipe.reader())); // Like one of a child process.
        loop.watch(pipe.reader(), WatchSpec.reading(says("read")));
        pipe.reader().close();
        assertThat(waitsOf(Duration.ofMillis(20))).isLessThan(5);
        assertThat(log).isEmpty();
    }

    @Test
    @Clause({"W-3", "L-8"})
    void close_onAnotherThread_wakesARunThatHadNothingElseToWaitFor() throws Exception {
        Pipe pipe = pipe();
        loop.watch(pipe.reader(), WatchSpec.reading(says("read")));
        Thread closer =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    while (loop.metrics().sleeps() == 0) {
                                        Thread.onSpinWait();
                                    }
                                    pipe.reader().close();
                                });
        assertThat(loop.runUntilEmpty()).isZero();
        closer.join();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("W-3")
    void close_ofOneDescriptorWatchedByTwoLoops_endsBothWatchers() {
        Pipe pipe = readyPipe();
        try (EventLoop other = EventLoop.open()) {
            loop.watch(pipe.reader(), WatchSpec.reading(says("one")));
            other.watch(pipe.reader(), WatchSpec.reading(says("two")));
            pipe.reader().close();
            assertThat(loop.runUntilEmpty() + other.runUntilEmpty()).isZero();
            assertThat(other.metrics().watchers()).isZero();
        }
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("W-3")
    void close_ofADescriptorWhoseLoopIsOver_isOrdinary() {
        Pipe pipe = pipe();
        EventLoop other = EventLoop.open();
        Watcher watcher = other.watch(pipe.reader(), WatchSpec.reading(says("read")));
        other.close();
        assertThat(watcher.isWatching()).isFalse();
        watcher.unwatch();
        other.unwatch(pipe.reader());
        pipe.reader().close();
    }

    // ------------------------------------------------------------------ W-4: unwatching

    @Test
    @Clause("W-4")
    void unwatch_ofWhatIsNotWatched_doesNothing() {
        Pipe pipe = pipe();
        loop.unwatch(pipe.reader());
        Watcher watcher = loop.watch(pipe.reader(), WatchSpec.reading(says("read")));
        loop.unwatch(pipe.reader());
        loop.unwatch(pipe.reader());
        watcher.unwatch();
        assertThat(watcher.isWatching()).isFalse();
        pipe.close();
        loop.unwatch(pipe.reader());
        assertThat(loop.metrics().watchers()).isZero();
    }

    @Test
    @Clause("W-4")
    void unwatch_thatTheKernelRefuses_isDoneAllTheSame() {
        Plan plan = new Plan();
        EpollBackend backend = EpollBackend.open(() -> new FaultyKernel(plan), 16);
        try (EventLoop faulty = Loop.open(LoopConfig.DEFAULT, backend);
                Pipe pipe = readyPipe()) {
            for (int errno : List.of(Errno.ENOENT, Errno.EBADF, Errno.EPERM)) {
                faulty.watch(pipe.reader(), WatchSpec.reading(says("read")));
                plan.fail("epoll_ctl", errno);
                faulty.unwatch(pipe.reader());
                assertThat(faulty.metrics().watchers()).isZero();
                // The kernel still reports it; the table decides.
                assertThat(faulty.runFor(Duration.ZERO)).isZero();
            }
        }
        assertThat(log).isEmpty();
    }

    // ------------------------------------------------------------------ many, aliveness, misuse

    @Test
    @Clause({"W-1", "B-3"})
    void fiveThousandReadyAtOnce_areAllCalledOnceInBatches() {
        int count = 5_000;
        boolean[] called = new boolean[count];
        for (int i = 0; i < count; i++) {
            int index = i;
            Descriptor event = TestDescriptors.eventfd(1);
            opened.add(event);
            loop.watch(
                    event,
                    WatchSpec.reading(
                            watcher -> {
                                assertThat(called[index]).as("called twice: %s", index).isFalse();
                                called[index] = true;
                                watcher.unwatch();
                            }));
        }
        assertThat(loop.runUntilEmpty()).isEqualTo(count);
        assertThat(called).doesNotContain(false);
        long looks = loop.metrics().polls() + loop.metrics().sleeps();
        assertThat(looks).as("batches of 1 024").isBetween(5L, 8L);
    }

    @Test
    @Clause("L-8")
    void unreference_letsTheLoopEndAlthoughItIsWatching() {
        Pipe pipe = pipe();
        Watcher watcher = loop.watch(pipe.reader(), WatchSpec.reading(says("read"))).unreference();
        assertThat(loop.runUntilEmpty()).isZero();
        watcher.reference();
        loop.after(
                Duration.ofMillis(1),
                timer -> {
                    log.add("timer");
                    watcher.unreference();
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("timer");
    }

    @Test
    @Clause("E-1")
    void watch_ofAClosedDescriptor_saysSo() {
        Pipe pipe = pipe();
        int fd = pipe.reader().fd();
        pipe.reader().close();
        assertThatThrownBy(() -> loop.watch(pipe.reader(), WatchSpec.reading(says("read"))))
                .isInstanceOf(ClosedDescriptorException.class)
                .hasMessageContaining("descriptor " + fd + " (closed)");
        assertThat(loop.metrics().watchers()).isZero();
    }

    @Test
    void modify_afterTheWatcherIsOver_saysSo() {
        Pipe pipe = pipe();
        Watcher watcher = loop.watch(pipe.reader(), WatchSpec.reading(says("read")));
        watcher.unwatch();
        assertThatThrownBy(watcher::rearm)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no longer watched")
                .hasMessageContaining("watch it again");
    }

    @Test
    @Clause("L-9")
    void watchersMethods_onAnotherThread_nameBothThreads() throws Exception {
        Pipe pipe = pipe();
        Watcher watcher = loop.watch(pipe.reader(), WatchSpec.reading(says("read")));
        List<Throwable> thrown = new ArrayList<>();
        Thread stranger =
                Thread.ofPlatform()
                        .name("stranger")
                        .unstarted(
                                () -> {
                                    List<Runnable> calls =
                                            List.of(
                                                    watcher::unwatch,
                                                    watcher::rearm,
                                                    watcher::unreference,
                                                    watcher::reference,
                                                    watcher::isArmed,
                                                    watcher::isError,
                                                    watcher::isHangUp,
                                                    watcher::descriptor,
                                                    watcher::isWatching,
                                                    () -> loop.unwatch(pipe.reader()),
                                                    () -> loop.own(pipe),
                                                    () -> loop.disown(pipe),
                                                    () ->
                                                            loop.watch(
                                                                    pipe.reader(),
                                                                    WatchSpec.nothing()));
                                    for (Runnable call : calls) {
                                        try {
                                            call.run();
                                        } catch (WrongThreadException e) {
                                            thrown.add(e);
                                        }
                                    }
                                });
        loop.submit(
                () -> {
                    stranger.start();
                    try {
                        stranger.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    loop.stop();
                });
        loop.run();
        assertThat(thrown).hasSize(13);
        assertThat(thrown)
                .allSatisfy(
                        e ->
                                assertThat(e)
                                        .hasMessageContaining("stranger")
                                        .hasMessageContaining(Thread.currentThread().getName()));
        assertThat(watcher.isWatching()).isTrue();
    }

    @Test
    void dispatch_inTheSteadyState_readsThroughDirectMemory() {
        Pipe pipe = readyPipe();
        ByteBuffer buffer = ByteBuffer.allocateDirect(16);
        loop.watch(
                pipe.reader(),
                WatchSpec.reading(
                        watcher -> {
                            log.add("" + watcher.descriptor().read(buffer.clear()));
                            watcher.unwatch();
                        }));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("1");
    }
}
