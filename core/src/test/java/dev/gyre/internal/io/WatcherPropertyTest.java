package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.io.WatcherPrograms.Action;
import dev.gyre.internal.io.WatcherPrograms.Kind;
import dev.gyre.internal.io.WatcherPrograms.Spec;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.ClosedDescriptorException;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// Compares watchers with [WatcherModel]: after any actions, between polls and inside callbacks,
/// the same callbacks run in the same order.
class WatcherPropertyTest {
    private static final int[] FDS = {3, 4, 70};

    /// The real watchers, on a loop over a scripted kernel.
    private static final class Real implements AutoCloseable {
        final List<String> log = new ArrayList<>();
        final ScriptedBackend backend = new ScriptedBackend();
        private final Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler(
                                (thread, thrown) -> log.add("threw " + thrown)),
                        backend);
        private final FakeDescriptors descriptors = new FakeDescriptors();
        private final Map<Integer, Watcher> latest = new HashMap<>();
        private final Map<Integer, Integer> ids = new HashMap<>();
        private final Deque<Action> reactions;
        private int watchers;

        Real(Deque<Action> reactions) {
            this.reactions = reactions;
        }

        void perform(Action action) {
            int fd = action.fd();
            switch (action.kind()) {
                case WATCH -> watch(fd, action.spec());
                case MODIFY -> modify(fd, watcher -> watcher.modify(watchOf(fd, action.spec())));
                case REARM -> modify(fd, Watcher::rearm);
                case UNWATCH -> loop.unwatch(descriptors.get(fd));
                case CLOSE -> {
                    descriptors.get(fd).close();
                    backend.setCondition(fd, 0);
                }
                case REOPEN -> {
                    descriptors.get(fd).close();
                    backend.setCondition(fd, 0);
                    descriptors.reopen(fd);
                }
                case CONDITION -> backend.setCondition(fd, action.ready());
                case POLL -> {}
            }
        }

        private void watch(int fd, Spec spec) {
            int id = watchers + 1;
            Integer before = ids.put(fd, id);
            try {
                latest.put(fd, loop.watch(descriptors.get(fd), watchOf(fd, spec)));
                watchers = id;
            } catch (ClosedDescriptorException e) {
                log.add("closed " + fd);
                if (before != null) {
                    ids.put(fd, before);
                }
            }
        }

        private void modify(int fd, Consumer<Watcher> change) {
            Watcher watcher = latest.get(fd);
            if (watcher == null) {
                return;
            }
            try {
                change.accept(watcher);
            } catch (IllegalStateException e) {
                log.add("over " + ids.get(fd));
            }
        }

        private WatchSpec watchOf(int fd, Spec spec) {
            int id = ids.getOrDefault(fd, 0);
            WatchSpec watch = WatchSpec.nothing();
            if (spec.reader()) {
                watch = watch.onRead(watcher -> run(id, "read"));
            }
            if (spec.writer()) {
                watch = watch.onWrite(watcher -> run(id, "write"));
            }
            if (spec.error()) {
                watch = watch.onError(watcher -> run(id, "error"));
            }
            if (spec.edge()) {
                watch = watch.edgeTriggered();
            }
            return spec.oneShot() ? watch.oneShot() : watch;
        }

        private void run(int id, String callback) {
            log.add(id + " " + callback);
            Action reaction = reactions.poll();
            if (reaction != null) {
                perform(reaction);
            }
        }

        void poll() {
            loop.runFor(Duration.ZERO);
        }

        String stateOf(int fd) {
            Watcher watcher = latest.get(fd);
            return watcher == null
                    ? "never watched"
                    : watcher.isWatching() + " " + watcher.isArmed();
        }

        @Override
        public void close() {
            loop.close();
        }
    }

    @Property(tries = 2_000)
    @Clause({"W-1", "W-3", "W-4", "W-5", "W-6", "W-7", "W-9"})
    void watchers_underAnyProgram_runTheCallbacksOfTheModel(
            @ForAll("programs") List<Action> program, @ForAll("programs") List<Action> reactions) {
        Deque<Action> modelReactions = new ArrayDeque<>(reactions);
        WatcherModel model = new WatcherModel(modelReactions);
        Deque<Action> realReactions = new ArrayDeque<>(reactions);
        try (Real real = new Real(realReactions)) {
            for (Action action : program) {
                model.perform(action);
                real.perform(action);
                if (action.kind() == Kind.POLL) {
                    model.poll();
                    real.poll();
                }
                compare(real, model);
            }
            modelReactions.clear();
            realReactions.clear();
            settle(real, model);
        }
    }

    /// W-9: without changes, unwanted conditions are not reported again.
    private static void settle(Real real, WatcherModel model) {
        for (int i = 0; i < 3; i++) {
            real.log.clear();
            model.log.clear();
            real.poll();
            model.poll();
            compare(real, model);
        }
        long told =
                real.log.stream()
                        .map(line -> line.substring(0, line.indexOf(' ')))
                        .distinct()
                        .count();
        assertThat(real.backend.lastCollected()).as("events of %s", real.log).isEqualTo((int) told);
    }

    private static void compare(Real real, WatcherModel model) {
        assertThat(real.log).isEqualTo(model.log);
        for (int fd : FDS) {
            assertThat(real.stateOf(fd))
                    .as("watching and armed: " + fd)
                    .isEqualTo(model.stateOf(fd));
        }
    }

    @Provide
    Arbitrary<List<Action>> programs() {
        return WatcherPrograms.actions().list().ofMaxSize(40);
    }
}
