package dev.gyre.http.fuzz;

import dev.gyre.http.MultipartConfig;
import dev.gyre.http.internal.body.MultipartReading;

/// Any bytes as a multipart body: the same parts or the same error, however the bytes are split and
/// however little the handler accepts at a time.
public final class MultipartFuzz {
    private static final MultipartConfig CONFIG =
            MultipartConfig.DEFAULT.withMaxParts(5).withMaxPartHeaderBytes(200);

    private MultipartFuzz() {}

    /// Called by a fuzzer.
    public static void fuzzerTestOneInput(byte[] data) {
        Pieces.compare(
                data, cuts -> MultipartReading.of("b", CONFIG, data, cuts, Integer.MAX_VALUE));
        String whole = MultipartReading.of("b", CONFIG, data, new int[0], Integer.MAX_VALUE);
        String little = MultipartReading.of("b", CONFIG, data, new int[0], 1);
        if (!little.equals(whole)) {
            throw new AssertionError("byte by byte: " + little + ", and not: " + whole);
        }
    }
}
