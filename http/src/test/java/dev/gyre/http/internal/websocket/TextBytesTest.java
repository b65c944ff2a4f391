package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;

@On("simulated")
class TextBytesTest {
    @Clause("K-1")
    @Test
    void text_ofAllSortsAndLengths_isWhatTheJdkMakesOfIt() {
        try (ServerSide server = ServerSide.echo(WebSocketConfig.DEFAULT, true)) {
            TextBytes encoding = Workbench.of(server.world.loop()).encoding;
            for (String each : List.of("a", "é", "€", "🙂", "\ud83d", "\ude42", "a🙂€")) {
                for (int before : new int[] {0, 1, 8191, 8192, 16_383, 65_535, 65_536}) {
                    for (int times : new int[] {0, 1, 9000, 70_000}) {
                        String text = "x".repeat(before) + each.repeat(times);
                        int length = encoding.encode(text);
                        byte[] made = Arrays.copyOf(encoding.bytes(), length);
                        encoding.release();
                        assertThat(Arrays.equals(made, text.getBytes(UTF_8)))
                                .as("%d of x and %d of %s", before, times, each)
                                .isTrue();
                    }
                }
            }
        }
    }
}
