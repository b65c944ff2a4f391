package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// The callbacks for each combination of readiness bits and handlers.
class WatcherMeaningTest {
    private static final int FD = 7;

    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final List<String> log = new ArrayList<>();
    private Loop loop = Loop.open(LoopConfig.DEFAULT, backend);

    private Consumer<Watcher> says(String word) {
        return watcher -> log.add(word);
    }

    private void happens(int ready) {
        backend.makeReady(FD, ready);
        loop.runFor(Duration.ZERO);
    }

    /// The bits by their first letters: Readable, Writable, Error, Hang-up.
    private static int bits(String letters) {
        int bits = 0;
        for (int i = 0; i < letters.length(); i++) {
            bits |=
                    switch (letters.charAt(i)) {
                        case 'R' -> Readiness.READ;
                        case 'W' -> Readiness.WRITE;
                        case 'E' -> Readiness.ERROR;
                        default -> Readiness.HANGUP;
                    };
        }
        return bits;
    }

    @ParameterizedTest(name = "{0} for {1}: {2}")
    @Clause({"W-5", "W-6"})
    @CsvSource({
        "R,    rw,  r",
        "W,    rw,  w",
        "RW,   rw,  rw",
        "RW,   rwe, rw",
        "H,    rw,  r",
        "H,    rwe, r",
        "H,    w,   ''",
        "H,    we,  ''",
        "RH,   rw,  r",
        "WH,   rw,  rw",
        "WH,   w,   w",
        "E,    rwe, e",
        "RWE,  rwe, e",
        "RWEH, rwe, e",
        "E,    rw,  rw",
        "E,    r,   r",
        "E,    w,   w",
        "WE,   rw,  rw",
        "EH,   rw,  rw",
        "EH,   w,   w",
        "R,    w,   ''",
    })
    void event_meansTheseCallbacksInThisOrder(String ready, String callbacks, String expected) {
        WatchSpec watch = WatchSpec.nothing();
        if (callbacks.contains("r")) {
            watch = watch.onRead(says("r"));
        }
        if (callbacks.contains("w")) {
            watch = watch.onWrite(says("w"));
        }
        if (callbacks.contains("e")) {
            watch = watch.onError(says("e"));
        }
        loop.watch(fakes.get(FD), watch);
        happens(bits(ready));
        assertThat(String.join("", log)).isEqualTo(expected);
    }

    @Test
    @Clause({"W-6", "W-5"})
    void error_thatUnwatches_isTheLast() {
        loop.watch(
                fakes.get(FD),
                WatchSpec.reading(says("read"))
                        .onError(
                                watcher -> {
                                    assertThat(watcher.isError()).isTrue();
                                    assertThat(watcher.isHangUp()).isTrue();
                                    log.add("error");
                                    watcher.unwatch();
                                }));
        happens(Readiness.ERROR | Readiness.HANGUP | Readiness.READ);
        happens(Readiness.READ);
        assertThat(log).containsExactly("error");
    }

    @Test
    @Clause({"W-5", "L-10"})
    void isolate_ofAReadThatThrows_goesOnWithWrite() {
        loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler(
                                (thread, thrown) -> log.add(thrown.getMessage())),
                        backend);
        loop.watch(fakes.get(FD), throwing().onWrite(says("write")));
        happens(Readiness.READ | Readiness.WRITE);
        assertThat(log).containsExactly("read", "thrown by read", "write");
    }

    @Test
    @Clause({"W-5", "L-10"})
    void propagate_ofAReadThatThrows_leavesWriteToTheNextRun() {
        loop = Loop.open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE), backend);
        Watcher watcher =
                loop.watch(fakes.get(FD), throwing().onWrite(says("write")).edgeTriggered());
        assertThatThrownBy(() -> happens(Readiness.READ | Readiness.WRITE))
                .hasMessage("thrown by read");
        assertThat(log).containsExactly("read");
        loop.runFor(Duration.ZERO);
        assertThat(log).containsExactly("read", "write");
        assertThat(watcher.isWatching()).isTrue();
    }

    @Test
    @Clause({"W-7", "L-10"})
    void oneShot_whoseLastCallbackThrows_isDisarmedAllTheSame() {
        loop = Loop.open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE), backend);
        Watcher watcher = loop.watch(fakes.get(FD), throwing().oneShot());
        assertThatThrownBy(() -> happens(Readiness.READ)).hasMessage("thrown by read");
        assertThat(watcher.isArmed()).isFalse();
    }

    private WatchSpec throwing() {
        return WatchSpec.reading(
                watcher -> {
                    log.add("read");
                    throw new IllegalStateException("thrown by read");
                });
    }

    @Test
    @Clause("W-7")
    void oneShot_whoseEventNobodyWants_isDisarmedToo() {
        Watcher watcher = loop.watch(fakes.get(FD), WatchSpec.writing(says("write")).oneShot());
        happens(Readiness.HANGUP);
        assertThat(log).isEmpty();
        assertThat(watcher.isArmed()).isFalse();
    }

    @Test
    void isErrorAndIsHangUp_outsideACallback_areFalse() {
        Watcher watcher = loop.watch(fakes.get(FD), WatchSpec.reading(says("read")));
        happens(Readiness.READ | Readiness.HANGUP);
        assertThat(watcher.isHangUp()).isFalse();
        assertThat(watcher.isError()).isFalse();
    }

    @Test
    @Clause("W-3")
    void number_reopenedAndWatched_getsNothingOfTheOldOnes() {
        Watcher old = loop.watch(fakes.get(FD), WatchSpec.reading(says("old")));
        loop.watch(
                fakes.get(FD - 1),
                WatchSpec.reading(
                        _ -> {
                            log.add("reopens");
                            fakes.get(FD).close();
                            loop.watch(fakes.reopen(FD), WatchSpec.reading(says("new")));
                        }));
        backend.makeReady(FD - 1, Readiness.READ);
        happens(Readiness.READ); // In the same poll, but dispatched after the other.
        assertThat(log).containsExactly("reopens");
        assertThat(old.isWatching()).isFalse();
        assertThat(loop.metrics().watchers()).isEqualTo(2);
        happens(Readiness.READ);
        assertThat(log).containsExactly("reopens", "new");
    }

    @Test
    @Clause("W-3")
    void number_reopenedBetweenTwoCallbacksOfOneEvent_getsNothingOfTheOldOnes() {
        loop.watch(
                fakes.get(FD),
                WatchSpec.reading(
                                _ -> {
                                    log.add("reopens");
                                    fakes.get(FD).close();
                                    WatchSpec both = WatchSpec.reading(says("new read"));
                                    loop.watch(fakes.reopen(FD), both.onWrite(says("new write")));
                                })
                        .onWrite(says("old write")));
        happens(Readiness.READ | Readiness.WRITE);
        assertThat(log).containsExactly("reopens");
        happens(Readiness.WRITE);
        assertThat(log).containsExactly("reopens", "new write");
    }
}
