package dev.gyre.http.fuzz;

import dev.gyre.http.internal.message.Mutations;
import dev.gyre.http.internal.message.Splits;

import java.util.Arrays;
import java.util.Random;
import java.util.function.Function;

/// Compares what comes of bytes as a whole with what comes of them in pieces.
final class Pieces {
    private Pieces() {}

    /// @param read takes where pieces begin
    static void compare(byte[] data, Function<int[], String> read) {
        String whole = read.apply(new int[0]);
        Splits.same(whole, Splits.everywhere(data.length), read);
        Random random = new Random(Arrays.hashCode(data));
        for (int i = 0; i < 4; i++) {
            Splits.same(whole, Mutations.cuts(data.length, random), read);
        }
    }
}
