package dev.gyre.http.fuzz;

import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.ServerSide;
import dev.gyre.io.StreamConfig;

import java.util.Arrays;
import java.util.List;

/// Any bytes as what a client sends after the upgrade: nothing is thrown, nothing leaks, what comes back are frames,
/// and how the bytes are split makes no difference.
public final class FrameFuzz {
    private static final WebSocketConfig CONFIG = WebSocketConfig.DEFAULT.withMaxMessage(10_000);

    private FrameFuzz() {}

    /// What a fuzzer calls. The first byte says how the others are used.
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > 1) {
            boolean compressed = (input[0] & 1) != 0;
            int cut = (input[0] & 0xff) >> 1;
            byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
            List<String> whole = answers(compressed, bytes, bytes.length);
            List<String> split = answers(compressed, bytes, Math.min(cut, bytes.length));
            if (!whole.equals(split)) {
                throw new AssertionError("split at " + cut + ": " + split + ", and not: " + whole);
            }
        }
    }

    private static List<String> answers(boolean compressed, byte[] bytes, int cut) {
        try (ServerSide server =
                ServerSide.of(
                        CONFIG,
                        compressed,
                        StreamConfig.DEFAULT,
                        socket -> socket.onText(socket::send).onBinary(socket::send))) {
            server.send(Arrays.copyOf(bytes, cut));
            server.send(Arrays.copyOfRange(bytes, cut, bytes.length));
            List<String> answers = server.answers();
            if (answers.stream().anyMatch(each -> each.startsWith("…"))) {
                throw new AssertionError("answered with no frame: " + answers);
            }
            return answers;
        }
    }
}
