package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.io.WatcherPrograms.Spec;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operations;
import dev.gyre.os.Pipe;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/// Runs random scripts of watchers on epoll and io_uring: each poll must run the same callbacks,
/// in one run or in several. The kernel chooses the order of descriptors within a poll, so only the
/// order of each descriptor's callbacks is compared.
class WatcherDifferentialTest {
    private static final int CHANNELS = 4;

    /// The way of running the loop.
    enum Runs {
        CONTINUOUS,
        FOR_NO_TIME,
        ONE_BY_ONE
    }

    enum Kind {
        WATCH,
        MODIFY,
        REARM,
        UNWATCH,
        SEND,
        RECEIVE_SOME,
        RECEIVE_ALL,
        FILL,
        DRAIN,
        END,
        POLL
    }

    record Action(Kind kind, int channel, Spec spec) {}

    /// Two ends, of which one is watched: two pairs of sockets, a pipe read, and a pipe written.
    private record Channel(Descriptor watched, Descriptor peer, boolean reads, boolean writes) {}

    /// A script in progress, on one backend.
    private static final class Script implements AutoCloseable {
        /// The callbacks of each poll.
        final List<List<String>> log = new ArrayList<>();

        private final EventLoop loop;
        private final List<Channel> channels = new ArrayList<>();
        private final List<Watcher> watchers =
                new ArrayList<>(Collections.nCopies(CHANNELS, (Watcher) null));
        private final List<Deque<Action>> reactions = new ArrayList<>();
        private final List<Runnable> closings = new ArrayList<>();
        private final Deque<Action> script;
        private final ByteBuffer room = ByteBuffer.allocateDirect(1 << 16);
        private List<String> callbacks = new ArrayList<>();

        Script(BackendKind backend, List<Action> script, List<Action> reactions) {
            loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend));
            closings.add(loop::close);
            this.script = new ArrayDeque<>(script);
            for (int i = 0; i < CHANNELS; i++) {
                channels.add(open(i));
                this.reactions.add(new ArrayDeque<>());
            }
            reactions.forEach(each -> this.reactions.get(each.channel).add(each));
            List<Descriptor> idle = TestDescriptors.sockets();
            idle.forEach(each -> closings.add(each::close));
            // Keeps the loop alive; removed at the end of each run.
            Operations.on(loop).read(idle.getFirst(), Buffer.allocate(1), done -> {}).start();
        }

        boolean isOn(BackendKind backend) {
            return loop.metrics().backendFallback().isEmpty() || backend == BackendKind.EPOLL;
        }

        private Channel open(int index) {
            if (index < 2) {
                List<Descriptor> sockets = TestDescriptors.sockets();
                sockets.forEach(each -> closings.add(each::close));
                return new Channel(sockets.getFirst(), sockets.getLast(), true, true);
            }
            Pipe pipe = Pipe.open();
            closings.add(pipe::close);
            return index == 2
                    ? new Channel(pipe.reader(), pipe.writer(), true, false)
                    : new Channel(pipe.writer(), pipe.reader(), false, true);
        }

        List<List<String>> run(Runs runs) {
            switch (runs) {
                case CONTINUOUS -> {
                    loop.defer(this::onTick);
                    loop.run();
                }
                case FOR_NO_TIME -> {
                    while (performUntilPoll()) {
                        loop.runFor(Duration.ZERO);
                        endPoll();
                    }
                }
                case ONE_BY_ONE -> {
                    while (performUntilPoll()) {
                        boolean[] over = new boolean[1];
                        // The I/O step of the first tick lies between the two.
                        loop.defer(() -> loop.defer(() -> over[0] = true));
                        while (!over[0]) {
                            loop.runOne();
                        }
                        endPoll();
                    }
                }
            }
            return log;
        }

        private void onTick() {
            endPoll();
            loop.defer(performUntilPoll() ? this::onTick : loop::stop);
        }

        private void endPoll() {
            callbacks.sort((one, other) -> Character.compare(one.charAt(0), other.charAt(0)));
            log.add(callbacks);
            callbacks = new ArrayList<>();
        }

        /// Performs the script up to the next poll.
        ///
        /// @return false at its end
        private boolean performUntilPoll() {
            boolean more = !script.isEmpty();
            for (Action action = script.poll();
                    action != null && action.kind != Kind.POLL;
                    action = script.poll()) {
                perform(action);
            }
            return more;
        }

        private void perform(Action action) {
            int index = action.channel;
            Channel channel = channels.get(index);
            switch (action.kind) {
                case WATCH ->
                        watchers.set(
                                index, loop.watch(channel.watched, watchOf(index, action.spec)));
                case MODIFY ->
                        change(index, watcher -> watcher.modify(watchOf(index, action.spec)));
                case REARM -> change(index, Watcher::rearm);
                case UNWATCH -> loop.unwatch(channel.watched);
                case SEND -> transfer(channel.reads, channel.peer, true, 1);
                case RECEIVE_SOME -> transfer(channel.reads, channel.watched, false, 1);
                case RECEIVE_ALL ->
                        transfer(channel.reads, channel.watched, false, Integer.MAX_VALUE);
                case FILL -> transfer(channel.writes, channel.watched, true, Integer.MAX_VALUE);
                case DRAIN -> transfer(channel.writes, channel.peer, false, Integer.MAX_VALUE);
                case END -> channel.peer.close();
                case POLL -> {}
            }
        }

        private void change(int index, Consumer<Watcher> change) {
            Watcher watcher = watchers.get(index);
            if (watcher != null && watcher.isWatching()) {
                change.accept(watcher);
            }
        }

        /// Reads or writes up to this many bytes without blocking.
        private void transfer(boolean possible, Descriptor descriptor, boolean writes, int most) {
            if (!possible || !descriptor.isOpen()) {
                return;
            }
            int moved;
            do {
                room.clear().limit(Math.min(most, room.capacity()));
                try {
                    moved = writes ? descriptor.write(room) : descriptor.read(room);
                } catch (SystemCallException e) {
                    moved = 0; // The other end is closed.
                }
            } while (moved > 0 && most > room.capacity());
        }

        private WatchSpec watchOf(int index, Spec spec) {
            WatchSpec watch = WatchSpec.nothing();
            if (spec.reader()) {
                watch = watch.onRead(watcher -> called(index, "read", watcher));
            }
            if (spec.writer()) {
                watch = watch.onWrite(watcher -> called(index, "write", watcher));
            }
            if (spec.error()) {
                watch = watch.onError(watcher -> called(index, "error", watcher));
            }
            if (spec.edge()) {
                watch = watch.edgeTriggered();
            }
            return spec.oneShot() ? watch.oneShot() : watch;
        }

        private void called(int index, String callback, Watcher watcher) {
            callbacks.add(
                    index
                            + " "
                            + callback
                            + (watcher.isHangUp() ? " hang-up" : "")
                            + (watcher.isError() ? " error" : ""));
            Action reaction = reactions.get(index).poll();
            if (reaction != null) {
                perform(reaction);
            }
        }

        @Override
        public void close() {
            closings.reversed().forEach(Runnable::run);
        }
    }

    @Property(tries = 300)
    @Clause({"L-7", "W-5", "W-6", "W-7", "W-9", "B-1"})
    void script_onEpollAndOnIoUring_runsTheSameCallbacks(
            @ForAll("actions") List<Action> script,
            @ForAll("actions") List<Action> reactions,
            @ForAll Runs runs) {
        try (Script epoll = new Script(BackendKind.EPOLL, script, reactions);
                Script uring = new Script(BackendKind.IO_URING, script, reactions)) {
            Assume.that(uring.isOn(BackendKind.IO_URING));
            assertThat(uring.run(runs)).isEqualTo(epoll.run(runs));
        }
    }

    @Provide
    Arbitrary<List<Action>> actions() {
        Arbitrary<Boolean> either = Arbitraries.of(true, false);
        Arbitrary<Boolean> rarely = Arbitraries.of(true, false, false);
        Arbitrary<Spec> specs =
                Combinators.combine(either, either, rarely, either, rarely).as(Spec::new);
        Arbitrary<Kind> kinds =
                Arbitraries.frequency(
                        Tuple.of(4, Kind.WATCH),
                        Tuple.of(2, Kind.MODIFY),
                        Tuple.of(1, Kind.REARM),
                        Tuple.of(1, Kind.UNWATCH),
                        Tuple.of(4, Kind.SEND),
                        Tuple.of(2, Kind.RECEIVE_SOME),
                        Tuple.of(2, Kind.RECEIVE_ALL),
                        Tuple.of(2, Kind.FILL),
                        Tuple.of(2, Kind.DRAIN),
                        Tuple.of(1, Kind.END),
                        Tuple.of(8, Kind.POLL));
        return Combinators.combine(kinds, Arbitraries.integers().between(0, CHANNELS - 1), specs)
                .as(Action::new)
                .list()
                .ofMaxSize(40);
    }
}
