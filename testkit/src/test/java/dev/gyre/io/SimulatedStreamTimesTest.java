package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// Virtual time also shows that an event does not happen before its time.
@On("simulated")
class SimulatedStreamTimesTest extends StreamTimeoutsContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config);
    }

    @Test
    @Clause("N-5")
    void activity_ofEitherSide_putsTheIdleTimeoutOff() {
        connect(StreamConfig.DEFAULT.withIdleTimeout(LATER), StreamConfig.DEFAULT);
        server.onData(Buffer::clear);
        client.onData(Buffer::clear);
        int[] beats = {0};
        long begun = loop.nanoTime();
        loop.every(
                Duration.ofMillis(10),
                timer -> {
                    if (beats[0]++ % 2 == 0) {
                        client.write("x");
                    } else if (server.isOpen()) {
                        server.write("y");
                    }
                    if (loop.nanoTime() - begun > 3 * LATER.toNanos()) {
                        timer.cancel();
                        events.add("silence");
                    }
                });
        server.onClose(reason -> events.add("server " + reason));
        awaitEvent("server IDLE_TIMEOUT");
        assertThat(events).containsExactly("silence", "server IDLE_TIMEOUT");
    }

    @Test
    @Clause("N-5")
    void write_toAPeerThatTakesALittle_goesOn() {
        connect(SMALL.withWriteTimeout(LATER), SMALL);
        long[] got = {0};
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                    client.pause();
                    loop.after(Duration.ofMillis(1), timer -> client.resume());
                });
        server.write(new byte[4 << 20]);
        runUntil("all there", () -> got[0] == 4 << 20);
        assertThat(server.isOpen()).isTrue();
    }
}
