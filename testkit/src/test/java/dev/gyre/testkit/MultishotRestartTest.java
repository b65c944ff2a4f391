package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/// Regressions found by random programs.
@On("simulated")
class MultishotRestartTest {
    /// The restart succeeds at once and reports more completions, while its own last callback is
    /// still running.
    @Test
    @Clause({"O-3", "O-9"})
    void acceptEach_startedAnewByItsLastCallback_whileSomebodyWaits_goesOn() {
        try (var world = SimulatedWorld.seed(1)) {
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
            var listener = Sockets.listen(world.loop(), address);
            List<String> log = new ArrayList<>();
            AcceptOperation accept =
                    Operations.on(world.loop())
                            .acceptEach(
                                    listener,
                                    op -> {
                                        if (op.result() >= 0) {
                                            op.accepted().close();
                                            log.add("accepted");
                                        } else if (!op.isCancelled()) {
                                            log.add(op.failure().errnoName());
                                            world.descriptorLimit(100);
                                            op.start();
                                        }
                                    });
            world.descriptorLimit(4); // The three standard ones and the listener.
            accept.start();
            world.connect(80);
            world.connect(80);
            world.run();
            assertThat(log).containsExactly("EMFILE", "accepted", "accepted");
            assertThat(accept.isPending()).isTrue();
            listener.close();
            world.run();
            assertThat(accept.isPending()).isFalse();
            assertThat(world.openDescriptors()).isZero();
        }
    }
}
