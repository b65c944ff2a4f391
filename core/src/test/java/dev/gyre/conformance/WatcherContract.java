package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Reachability;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Chapter W, over pairs of sockets.
public abstract class WatcherContract extends ConformanceFixture {
    @Test
    @Clause("W-1")
    void watch_again_replacesTheOldWatcherWithoutACallback() {
        List<Descriptor> pair = pair();
        Watcher old = loop.watch(pair.get(0), WatchSpec.reading(notes("old")));
        Watcher replacement = loop.watch(pair.get(0), WatchSpec.reading(notes("new")).oneShot());
        runReady();
        assertThat(log).as("replacing calls nobody").isEmpty();
        assertThat(old.isWatching()).isFalse();
        assertThat(replacement.isWatching()).isTrue();
        assertThat(loop.metrics().watchers()).isEqualTo(1);
        send(pair.get(1));
        runReady();
        assertThat(log).containsExactly("new");
    }

    @Test
    @Clause("W-2")
    void watcher_doesNotKeepItsDescriptor() {
        List<Watcher> watchers = new ArrayList<>();
        Reachability dropped =
                Reachability.of(
                        () -> {
                            Descriptor reader = world().pair(loop).get(0);
                            watchers.add(loop.watch(reader, WatchSpec.reading(notes("never"))));
                            return reader;
                        });
        dropped.assertLost("a watched descriptor");
        for (int round = 0; round < 1_000 && watchers.getFirst().isWatching(); round++) {
            System.gc();
            runReady();
        }
        assertThat(watchers.getFirst().isWatching()).isFalse();
        assertThat(loop.metrics().watchers()).isZero();
    }

    @Test
    @Clause("W-3")
    void close_ofADescriptorWhoseEventIsOnItsWay_dropsIt() {
        List<Descriptor> one = readyPair();
        List<Descriptor> two = readyPair();
        loop.watch(
                one.get(0),
                WatchSpec.reading(
                        watcher -> {
                            log.add("one");
                            watcher.unwatch();
                            two.get(0).close();
                        }));
        Watcher other =
                loop.watch(
                        two.get(0),
                        WatchSpec.reading(
                                watcher -> {
                                    log.add("two");
                                    watcher.unwatch();
                                    one.get(0).close();
                                }));
        loop.runUntilEmpty();
        assertThat(log).as("whichever came first closed the other's").hasSize(1);
        assertThat(other.isWatching()).isFalse();
        List<Descriptor> next = pair(); // With a number that was just given back.
        loop.watch(next.get(0), WatchSpec.reading(notes("next")).oneShot());
        runReady();
        assertThat(log).hasSize(1);
        send(next.get(1));
        runReady();
        assertThat(log).hasSize(2).endsWith("next");
    }

    @Test
    @Clause("W-4")
    void unwatch_takesEffectAtOnce_andTwiceIsSafe() {
        List<Descriptor> one = readyPair();
        List<Descriptor> two = readyPair();
        for (Descriptor reader : List.of(one.get(0), two.get(0))) {
            loop.watch(
                    reader,
                    WatchSpec.reading(
                            watcher -> {
                                log.add("read");
                                loop.unwatch(one.get(0));
                                loop.unwatch(two.get(0));
                            }));
        }
        loop.runUntilEmpty();
        assertThat(log).containsExactly("read");
        loop.unwatch(one.get(0));
        assertThat(loop.metrics().watchers()).isZero();
    }

    @Test
    @Clause("W-5")
    void callbacks_ofOneEvent_runReadThenWrite_andOnlyWhileWatched() {
        List<Descriptor> pair = readyPair();
        Watcher watcher =
                loop.watch(
                        pair.get(0),
                        WatchSpec.reading(notes("read")).onWrite(notes("write")).oneShot());
        runReady();
        assertThat(log).containsExactly("read", "write");
        watcher.modify(
                WatchSpec.reading(
                                reading -> {
                                    log.add("last");
                                    reading.unwatch();
                                })
                        .onWrite(notes("never")));
        runReady();
        assertThat(log).containsExactly("read", "write", "last");
    }

    @Test
    @Clause("W-6")
    void hangUp_callsRead_whichFindsTheRestAndTheEnd() {
        List<Descriptor> pair = readyPair();
        pair.get(1).close();
        loop.watch(
                pair.get(0),
                WatchSpec.reading(
                        watcher -> {
                            String found = receive(watcher.descriptor());
                            log.add(found);
                            if (found.equals("end")) {
                                watcher.unwatch();
                            }
                        }));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("x", "end");
    }

    @Test
    @Clause("W-6")
    void hangUp_ofBothDirections_isToldToWhoWatchesBoth() {
        List<Descriptor> pair = pair();
        pair.get(1).close();
        loop.watch(
                pair.get(0),
                WatchSpec.reading(
                                watcher -> {
                                    log.add("read " + watcher.isHangUp());
                                    watcher.unwatch();
                                })
                        .onWrite(notes("never")));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("read true");
    }

    @Test
    @Clause("W-7")
    void edgeTriggered_tellsOncePerChange_andLevelForAsLongAsItLasts() {
        List<Descriptor> edge = readyPair();
        List<Descriptor> level = readyPair();
        loop.watch(edge.get(0), WatchSpec.reading(notes("edge")).edgeTriggered());
        loop.watch(level.get(0), WatchSpec.reading(notes("level")));
        loop.runSome();
        loop.runSome();
        assertThat(log.stream().filter("edge"::equals)).hasSize(1);
        assertThat(log.stream().filter("level"::equals)).hasSizeGreaterThanOrEqualTo(2);
        send(edge.get(1));
        loop.runSome();
        assertThat(log.stream().filter("edge"::equals)).hasSize(2);
    }

    @Test
    @Clause("W-7")
    void oneShot_isDisarmedByItsFirstEvent_andArmedAgain() {
        List<Descriptor> pair = readyPair();
        Watcher watcher = loop.watch(pair.get(0), WatchSpec.reading(notes("read")).oneShot());
        loop.runUntilEmpty();
        runReady();
        assertThat(log).containsExactly("read");
        assertThat(watcher.isArmed()).isFalse();
        assertThat(watcher.isWatching()).isTrue();
        watcher.rearm();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("read", "read");
    }

    @Test
    @Clause("W-8")
    void watch_ofARegularFile_isRefused() {
        try (Descriptor file = world().file(loop)) {
            for (WatchSpec watch :
                    List.of(WatchSpec.reading(notes("never")), WatchSpec.nothing())) {
                assertThatThrownBy(() -> loop.watch(file, watch))
                        .isInstanceOf(SystemCallException.class)
                        .hasMessageContaining("EPERM");
            }
        }
        assertThat(loop.metrics().watchers()).isZero();
    }

    @Test
    @Clause("W-9")
    void emptyMask_isToldNothing_spinsNobodyAndKeepsNobodyWaiting() {
        List<Descriptor> pair = readyPair();
        Watcher watcher = loop.watch(pair.get(0), WatchSpec.nothing());
        pair.get(1).close();
        assertThat(loop.runUntilEmpty()).isZero();
        long looks = loop.metrics().polls() + loop.metrics().sleeps();
        loop.runFor(Duration.ofMillis(3));
        assertThat(loop.metrics().polls() + loop.metrics().sleeps() - looks)
                .as("looks at the kernel: a hang-up that nobody asked for is reported for ever")
                .isLessThan(20);
        watcher.modify(WatchSpec.reading(notes("read")).oneShot());
        loop.runUntilEmpty();
        assertThat(log).containsExactly("read");
    }
}
