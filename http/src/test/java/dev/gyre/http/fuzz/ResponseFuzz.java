package dev.gyre.http.fuzz;

import dev.gyre.http.internal.message.MessageReader;

/// Responses: the same in all pieces, whatever they answer.
public final class ResponseFuzz {
    private ResponseFuzz() {}

    /// What a fuzzer calls.
    public static void fuzzerTestOneInput(byte[] data) {
        for (String method : new String[] {"GET", "HEAD", "CONNECT"}) {
            Pieces.compare(data, cuts -> MessageReader.ofResponses(method, data, cuts));
        }
    }
}
