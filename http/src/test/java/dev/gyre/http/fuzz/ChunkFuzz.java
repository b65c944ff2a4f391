package dev.gyre.http.fuzz;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.http.internal.message.MessageReader;

import java.util.Arrays;

/// Chunks and trailers: the same in all pieces.
public final class ChunkFuzz {
    private static final byte[] HEAD =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".getBytes(US_ASCII);

    private ChunkFuzz() {}

    /// What a fuzzer calls.
    public static void fuzzerTestOneInput(byte[] data) {
        byte[] message = Arrays.copyOf(HEAD, HEAD.length + data.length);
        System.arraycopy(data, 0, message, HEAD.length, data.length);
        Pieces.compare(message, cuts -> MessageReader.ofRequests(message, cuts));
    }
}
