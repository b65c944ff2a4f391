package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.internal.base.Checks;
import dev.gyre.io.DatagramConfig;
import dev.gyre.io.KeepAlive;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.SocketOptions;
import dev.gyre.io.StreamConfig;
import dev.gyre.metrics.Watchdog;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Invalid arguments are rejected by the call, by name, and do not change the loop.
class BadInputTest {
    private static final Duration TOO_LONG = Duration.ofSeconds(Long.MAX_VALUE);

    private final EventLoop loop = EventLoop.open();

    @AfterEach
    void loopIsAsItWas() {
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        assertThat(loop.runUntilEmpty()).isZero();
        loop.close();
    }

    @Test
    void null_anywhere_isRefusedByName() {
        refusesNull("config", () -> EventLoop.open(null));
        refusesNull("mode", () -> loop.run(null));
        refusesNull("duration", () -> loop.runFor(null));
        refusesNull("task", () -> loop.submit(null));
        refusesNull("task", () -> loop.trySubmit(null));
        refusesNull("task", () -> loop.execute(null));
        refusesNull("task", () -> loop.submitPriority(null));
        refusesNull("callback", () -> loop.defer(null));
        refusesNull("microtask", () -> loop.microtask(null));
        refusesNull("delay", () -> loop.after(null, timer -> {}));
        refusesNull("callback", () -> loop.after(Duration.ZERO, null));
        refusesNull("callback", () -> loop.at(0, null));
        refusesNull("delay", () -> loop.after(Duration.ZERO, t -> {}).reschedule(null));
        loop.runUntilEmpty();
        refusesNull("period", () -> loop.every(null, timer -> {}));
        refusesNull("callback", () -> loop.every(Duration.ofSeconds(1), null));
        refusesNull("deadline", () -> loop.shutdown(null));
        refusesNull("name", () -> LoopConfig.DEFAULT.withName(null));
        refusesNull("policy", () -> LoopConfig.DEFAULT.withFailurePolicy(null));
        refusesNull("handler", () -> LoopConfig.DEFAULT.withUncaughtHandler(null));
        refusesNull("observer", () -> LoopConfig.DEFAULT.withObserver(null));
        refusesNull("maxWait", () -> LoopConfig.DEFAULT.withMaxWait(null));
        refusesNull("address", () -> loop.trace().peer(null));
        refusesNull("pattern", () -> loop.trace().route(null));
        refuses("id must be at least 1", () -> loop.trace().connection(0));
        refusesNull("loop", () -> Watchdog.on((EventLoop) null, Duration.ofSeconds(1)));
        refusesNull("group", () -> Watchdog.on((LoopGroup) null, Duration.ofSeconds(1)));
        refuses("limit must be from", () -> Watchdog.on(loop, Duration.ZERO));
    }

    private static void refusesNull(String name, Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(NullPointerException.class).hasMessage(name);
    }

    @Test
    @Clause("T-1")
    void durations_negativeOrBeyondRange_areRefusedWithTheValue() {
        Duration negative = Duration.ofNanos(-1);
        refuses("but is -1 ns", () -> loop.runFor(negative));
        refuses("but is -1 ns", () -> loop.shutdown(negative));
        for (Duration wrong : List.of(negative, TOO_LONG)) {
            refuses(Checks.format(wrong), () -> loop.after(wrong, timer -> {}));
            refuses(
                    Checks.format(wrong),
                    () -> {
                        Timer timer = loop.after(Duration.ZERO, t -> {});
                        timer.cancel();
                        timer.reschedule(wrong);
                    });
            refuses(Checks.format(wrong), () -> loop.every(wrong, timer -> {}));
        }
        refuses("0 s", () -> loop.every(Duration.ZERO, timer -> {}));
        refuses(
                "cannot be represented",
                () -> loop.after(Duration.ofNanos(Long.MAX_VALUE), timer -> {}));
        // The loop's time is positive on Linux: counted from boot.
        refuses("but is -9223372036854775808 ns", () -> loop.at(Long.MIN_VALUE, timer -> {}));
    }

    @Test
    @Clause("T-1")
    void at_theFarthestRepresentableInstants_isAccepted() {
        loop.at(Long.MAX_VALUE, timer -> {}).unreference();
        List<String> log = new ArrayList<>();
        loop.at(0, timer -> log.add("long past"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("long past");
    }

    @Test
    void config_outOfRange_isRefusedWithNameAndValue() {
        LoopConfig config = LoopConfig.DEFAULT;
        refuses("taskBudget must be at least 1", () -> config.withTaskBudget(0));
        refuses("highWaterMark must be from 1", () -> config.withHighWaterMark(-7));
        refuses("but is 16777217", () -> config.withHighWaterMark((1 << 24) + 1));
        refuses("microtaskBudget must be at least 1", () -> config.withMicrotaskBudget(0));
        refuses("ioBatch must be at least 1", () -> config.withIoBatch(0));
        refuses("eventsPerWait must be from 1", () -> config.withEventsPerWait(0));
        refuses("but is 65537", () -> config.withEventsPerWait(65_537));
        refuses("bufferMemory must be at least 1048576", () -> config.withBufferMemory(0));
        refuses("but is 0 s", () -> config.withMaxWait(Duration.ZERO));
        refuses("but is 172800 s", () -> config.withMaxWait(Duration.ofDays(2)));
    }

    @Test
    void ioConfigs_outOfRange_areRefusedWithNameRangeAndValue() {
        StreamConfig streams = StreamConfig.DEFAULT;
        refuses("from 0 to below highWaterMark", () -> streams.withWaterMarks(5, 5));
        refuses("outputLimit must be at least 1, but is 0", () -> streams.withOutputLimit(0));
        refuses("inputLimit must be at least 1, but is 0", () -> streams.withInputLimit(0));
        refuses(
                "idleTimeout must be at least 0 s, but is -1 s",
                () -> streams.withIdleTimeout(Duration.ofSeconds(-1)));
        refuses("connectTimeout must be", () -> streams.withConnectTimeout(Duration.ZERO));
        ListenerConfig listeners = ListenerConfig.DEFAULT;
        refuses("backlog must be at least 1, but is 0", () -> listeners.withBacklog(0));
        refuses("maxConnectionsPerPeer", () -> listeners.withMaxConnectionsPerPeer(0));
        SocketOptions socket = SocketOptions.DEFAULT;
        refuses(
                "sendBufferBytes must be from 0 to 536870912, but is -1",
                () -> socket.withBuffers(0, -1));
        refuses("userTimeout must be", () -> socket.withUserTimeout(Duration.ofDays(25)));
        refuses(
                "idle must be whole seconds, but is 1500 ms",
                () -> new KeepAlive(Duration.ofMillis(1_500), Duration.ofSeconds(1), 1));
        refuses(
                "count must be from 1 to 127, but is 128",
                () -> new KeepAlive(Duration.ofSeconds(1), Duration.ofSeconds(1), 128));
        refuses("maxQueuedBytes", () -> DatagramConfig.DEFAULT.withMaxQueued(1, 0));
    }

    private static void refuses(String part, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(part);
    }

    @Test
    void config_changed_isACopy() {
        LoopConfig changed =
                LoopConfig.DEFAULT
                        .withName("other")
                        .withTaskBudget(2)
                        .withHighWaterMark(3)
                        .withMicrotaskBudget(4)
                        .withIoBatch(5)
                        .withEventsPerWait(6)
                        .withMaxWait(Duration.ofSeconds(7))
                        .withFailurePolicy(FailurePolicy.PROPAGATE);
        assertThat(changed.name()).isEqualTo("other");
        assertThat(changed.taskBudget()).isEqualTo(2);
        assertThat(changed.highWaterMark()).isEqualTo(3);
        assertThat(changed.microtaskBudget()).isEqualTo(4);
        assertThat(changed.ioBatch()).isEqualTo(5);
        assertThat(changed.withStrictMicrotasks(true).strictMicrotasks()).isTrue();
        assertThat(changed.eventsPerWait()).isEqualTo(6);
        assertThat(changed.maxWait()).isEqualTo(Duration.ofSeconds(7));
        assertThat(changed.failurePolicy()).isEqualTo(FailurePolicy.PROPAGATE);
        assertThat(LoopConfig.DEFAULT.name()).isEqualTo("gyre");
        assertThat(LoopConfig.DEFAULT.taskBudget()).isEqualTo(1_024);
        assertThat(LoopConfig.DEFAULT.highWaterMark()).isEqualTo(100_000);
        assertThat(LoopConfig.DEFAULT.microtaskBudget()).isEqualTo(1_024);
        assertThat(LoopConfig.DEFAULT.ioBatch()).isEqualTo(64);
    }

    @Test
    void useAfterClose_isRefusedEverywhere() {
        EventLoop closed = EventLoop.open();
        Timer timer = closed.after(Duration.ofHours(1), t -> {});
        closed.close();
        for (Runnable late :
                List.<Runnable>of(
                        closed::run,
                        () -> closed.submit(() -> {}),
                        () -> closed.submitPriority(() -> {}),
                        () -> closed.defer(() -> {}),
                        () -> closed.microtask(() -> {}),
                        () -> closed.after(Duration.ZERO, t -> {}),
                        () -> closed.at(0, t -> {}),
                        () -> timer.reschedule(Duration.ZERO),
                        () -> closed.every(Duration.ofSeconds(1), t -> {}))) {
            assertThatThrownBy(late::run)
                    .isInstanceOf(LoopTerminatedException.class)
                    .hasMessageContaining("TERMINATED");
        }
        timer.cancel(); // Tidying up after the end is no mistake.
        closed.stop();
        closed.close();
        assertThat(closed.state()).isEqualTo(LoopState.TERMINATED);
    }
}
