package dev.gyre.bench.timers;

import java.util.Random;

/// Fisher and Yates' shuffle, for arrays.
final class Shuffle {
    private Shuffle() {}

    static <T> void shuffle(T[] array, Random random) {
        for (int i = array.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            T other = array[j];
            array[j] = array[i];
            array[i] = other;
        }
    }

    static void shuffle(long[] array, Random random) {
        for (int i = array.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            long other = array[j];
            array[j] = array[i];
            array[i] = other;
        }
    }
}
