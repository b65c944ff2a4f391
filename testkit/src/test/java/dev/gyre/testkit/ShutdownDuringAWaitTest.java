package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.conformance.On;
import dev.gyre.io.Listener;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A shutdown that begins while the loop waits, in simulated time.
@On("simulated")
class ShutdownDuringAWaitTest {
    @Test
    @Clause({"L-3", "L-2"})
    void shutdown_whileTheLoopWaits_leavesTheStateAsItIsAndTheTickAtOnce() {
        try (var world = SimulatedWorld.seed(7)) {
            EventLoop loop = world.loop();
            List<LoopState> states = new ArrayList<>();
            List<String> log = new ArrayList<>();
            Listener.tcp(
                    loop,
                    new InetSocketAddress(80),
                    stream -> {
                        stream.write("hello");
                        stream.onData(_ -> log.add("data"));
                    });
            SimulatedPeer peer = world.latency(Duration.ZERO, Duration.ZERO).connect(80);
            peer.onChange(
                    _ -> {
                        if (peer.receivedText().equals("hello") && states.isEmpty()) {
                            peer.send("answer");
                            states.add(loop.state());
                            loop.shutdown(Duration.ZERO);
                            states.add(loop.state());
                        }
                    });
            loop.run();
            assertThat(states).containsExactly(LoopState.SLEEPING, LoopState.TERMINATING);
            assertThat(log).as("what the wait had found by then").isEmpty();
            assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        }
    }
}
