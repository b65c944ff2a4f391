package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Events that reach a watcher after its state has changed.
class WatcherInFlightTest {
    private final ScriptedBackend backend = new ScriptedBackend();
    private final Loop loop = Loop.open(LoopConfig.DEFAULT, backend);
    private final FakeDescriptors descriptors = new FakeDescriptors();
    private final List<String> log = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private void polls(int times) {
        for (int i = 0; i < times; i++) {
            loop.runFor(Duration.ZERO);
        }
    }

    @Test
    @Clause("W-7")
    void oneShot_armedAgainWhileItsEventIsOnItsWay_isToldOnce() {
        Watcher once =
                loop.watch(descriptors.get(4), WatchSpec.reading(w -> log.add("once")).oneShot());
        loop.watch(descriptors.get(3), WatchSpec.reading(w -> once.rearm()).oneShot());
        backend.setCondition(3, Readiness.READ);
        backend.setCondition(4, Readiness.READ);
        polls(3);
        assertThat(log).containsExactly("once");
        assertThat(once.isArmed()).isFalse();
        once.rearm();
        polls(3);
        assertThat(log).containsExactly("once", "once");
    }

    @Test
    @Clause("W-9")
    void levelTriggered_hungUpBeforeItIsWritable_isToldForAsLongAsThatLasts() {
        loop.watch(descriptors.get(3), WatchSpec.writing(w -> log.add("writable")));
        backend.setCondition(3, Readiness.HANGUP);
        polls(3);
        assertThat(backend.lastCollected()).as("events that nobody wants").isZero();
        backend.setCondition(3, Readiness.HANGUP | Readiness.WRITE);
        polls(3);
        assertThat(log).hasSize(3);
    }

    @Test
    @Clause("W-7")
    void oneShot_modifiedWhileItsEventIsOnItsWay_isToldOfWhatItWantsNow() {
        Watcher once =
                loop.watch(descriptors.get(4), WatchSpec.reading(w -> log.add("read")).oneShot());
        WatchSpec writing = WatchSpec.writing(w -> log.add("write")).oneShot();
        loop.watch(descriptors.get(3), WatchSpec.reading(w -> once.modify(writing)).oneShot());
        backend.setCondition(3, Readiness.READ);
        backend.setCondition(4, Readiness.READ);
        polls(2);
        assertThat(log).isEmpty();
        assertThat(once.isArmed()).isTrue();
        backend.setCondition(4, Readiness.READ | Readiness.WRITE);
        polls(3);
        assertThat(log).containsExactly("write");
    }
}
