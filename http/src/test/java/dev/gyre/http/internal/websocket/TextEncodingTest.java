package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.StreamConfig;

import org.junit.jupiter.api.Test;

import java.util.List;

@On("simulated")
class TextEncodingTest {
    @Clause("K-1")
    @Test
    void text_ofAllSortsAndLengths_isSentAsTheJdkEncodesIt() {
        WebSocketConfig config = WebSocketConfig.DEFAULT;
        for (boolean compressed : new boolean[] {false, true}) {
            try (ServerSide server =
                    ServerSide.of(config, compressed, StreamConfig.DEFAULT, _ -> {})) {
                requireSent(server);
            }
        }
        try (ServerSide client = ServerSide.asClient(config, _ -> {})) {
            requireSent(client);
        }
    }

    private static void requireSent(ServerSide side) {
        for (String each : List.of("a", "é", "€", "🙂", "\ud83d", "\ude42", "a🙂€")) {
            for (int before : new int[] {0, 1, 8191, 21_845, 65_536}) {
                for (int times : new int[] {0, 1, 9000, 30_000}) {
                    String text = "x".repeat(before) + each.repeat(times);
                    side.peer.takeReceived();
                    side.socket.send(text);
                    side.world.run();
                    assertThat(side.answers())
                            .as("%d of x and %d of %s", before, times, each)
                            .hasSize(1)
                            .first()
                            .asString()
                            .endsWith(Frames.text(text));
                }
            }
        }
    }
}
