package dev.gyre.http.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.HttpServer;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The budget of unread input belongs to the loop.
@On("simulated")
class UnreadInputBudgetTest {
    private static void serve(SimulatedWorld world, int port, List<UnreadInputBudget> budgets) {
        HttpServer.on(world.loop())
                .get(
                        "/",
                        (request, response) -> {
                            Exchange exchange = ((ServerRequest) request).exchange();
                            budgets.add(exchange.context.unreadInput);
                            return response.text("noted");
                        })
                .listen(port);
        SimulatedPeer peer = world.connect(port).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(100));
        assertThat(peer.receivedText()).endsWith("noted");
    }

    @Test
    @Clause("H-3")
    void servers_ofOneLoop_shareTheirBudget() {
        List<UnreadInputBudget> budgets = new ArrayList<>();
        try (SimulatedWorld world = SimulatedWorld.seed(1);
                SimulatedWorld another = SimulatedWorld.seed(2)) {
            serve(world, 80, budgets);
            serve(world, 81, budgets);
            serve(another, 80, budgets);
        }
        assertThat(budgets.get(1)).isSameAs(budgets.get(0));
        assertThat(budgets.get(2)).isNotSameAs(budgets.get(0));
    }
}
