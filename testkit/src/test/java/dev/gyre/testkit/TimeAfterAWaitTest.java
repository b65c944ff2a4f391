package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.io.Listener;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The time that a callback sees after a long wait of the loop.
class TimeAfterAWaitTest {
    @Test
    @Clause("L-6")
    void nowNanos_inACallbackThatWasWaitedFor_isNotFromBeforeTheWait() {
        try (var world = SimulatedWorld.seed(3)) {
            List<Long> seen = new ArrayList<>();
            List<Duration> fired = new ArrayList<>();
            Listener.tcp(
                    world.loop(),
                    new InetSocketAddress(80),
                    stream ->
                            stream.onData(
                                    data -> {
                                        data.clear();
                                        seen.add(world.loop().nanoTime() - world.loop().nowNanos());
                                        world.loop()
                                                .after(
                                                        Duration.ofSeconds(1),
                                                        _ -> fired.add(world.elapsed()));
                                    }));
            SimulatedPeer peer = world.connect(80);
            world.advance(Duration.ofHours(1));
            Duration sent = world.elapsed();
            peer.send("now");
            world.advance(Duration.ofSeconds(5));
            assertThat(seen).as("how old the loop's time is in the callback").containsExactly(0L);
            assertThat(fired).hasSize(1);
            assertThat(fired.getFirst().minus(sent))
                    .as("when a timer of one second fired, after the bytes were sent")
                    .isBetween(Duration.ofSeconds(1), Duration.ofMillis(1_200));
        }
    }
}
