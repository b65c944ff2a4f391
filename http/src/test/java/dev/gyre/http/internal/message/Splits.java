package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.Function;

/// All that is to be tried of the ways in which bytes can be cut.
public final class Splits {
    private Splits() {}

    /// Returns the outcome of the whole input. It must be the same if the input is cut once
    /// anywhere, or everywhere.
    ///
    /// @param read takes where pieces begin
    static String same(byte[] bytes, Function<int[], String> read) {
        String whole = read.apply(new int[0]);
        for (int cut = 1; cut < bytes.length; cut++) {
            same(whole, new int[] {cut}, read);
        }
        same(whole, everywhere(bytes.length), read);
        return whole;
    }

    /// Fails unless the same comes of these cuts.
    public static void same(String whole, int[] cuts, Function<int[], String> read) {
        assertThat(read.apply(cuts))
                .as("understood otherwise when cut before %s", Arrays.toString(cuts))
                .isEqualTo(whole);
    }

    /// Byte by byte.
    public static int[] everywhere(int length) {
        int[] cuts = new int[Math.max(0, length - 1)];
        Arrays.setAll(cuts, i -> i + 1);
        return cuts;
    }
}
