package dev.gyre.http.fuzz;

import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.Frames;
import dev.gyre.http.internal.websocket.ServerSide;
import dev.gyre.io.StreamConfig;

/// Any bytes as the content of a compressed message: it is inflated or refused, and never becomes more than the limit.
public final class InflateFuzz {
    private static final int MOST = 10_000;

    private InflateFuzz() {}

    /// What a fuzzer calls.
    public static void fuzzerTestOneInput(byte[] input) {
        int[] longest = {0};
        try (ServerSide server =
                ServerSide.of(
                        WebSocketConfig.DEFAULT.withMaxMessage(MOST),
                        true,
                        StreamConfig.DEFAULT,
                        socket ->
                                socket.onBinary(
                                        data -> {
                                            longest[0] = Math.max(longest[0], data.readable());
                                            socket.send("got it");
                                        }))) {
            server.send(Frames.frame(0xc2, input, true));
            String answer = String.join(" and ", server.answers());
            if (longest[0] > MOST
                    || !(answer.equals(Frames.text("got it"))
                            || answer.equals("close 1007")
                            || answer.equals("close 1009"))) {
                throw new AssertionError(longest[0] + " bytes, answered with " + answer);
            }
        }
    }
}
