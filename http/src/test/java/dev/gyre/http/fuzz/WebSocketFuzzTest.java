package dev.gyre.http.fuzz;

import dev.gyre.Clause;
import dev.gyre.http.internal.websocket.Frames;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Random;

/// The fuzzers' entry points with inputs that a seed makes: noise, and frames of which something was changed.
class WebSocketFuzzTest {
    private static final int INPUTS = 300;

    @Clause("K-1")
    @Test
    void frames_ofNoiseAndNearlyRight_doNoHarm() {
        for (int seed = 0; seed < INPUTS; seed++) {
            byte[] input = seed % 3 == 0 ? noise(seed, 60) : mutated(seed);
            run(seed, input, FrameFuzz::fuzzerTestOneInput);
        }
    }

    @Clause("K-1")
    @Test
    void inflating_ofNoiseAndNearlyRight_doesNoHarm() {
        for (int seed = 0; seed < INPUTS; seed++) {
            Random random = new Random(seed);
            byte[] good = Frames.deflated(new byte[random.nextInt(20_000)]);
            byte[] input = seed % 3 == 0 ? noise(seed, 200) : changed(random, good);
            run(seed, input, InflateFuzz::fuzzerTestOneInput);
        }
    }

    private interface Target {
        void run(byte[] input);
    }

    private static void run(int seed, byte[] input, Target target) {
        try {
            target.run(input);
        } catch (RuntimeException | Error e) {
            throw new AssertionError("seed " + seed + ": run its input alone with a debugger", e);
        }
    }

    private static byte[] noise(int seed, int most) {
        Random random = new Random(seed);
        byte[] made = new byte[1 + random.nextInt(most)];
        random.nextBytes(made);
        return made;
    }

    private static byte[] mutated(int seed) {
        Random random = new Random(seed);
        byte[][] frames = new byte[5][];
        frames[0] = new byte[] {(byte) random.nextInt()};
        for (int i = 1; i < frames.length; i++) {
            int opcode = new int[] {0, 1, 2, 9, 10, 0xc1, 0x41, 8}[random.nextInt(8)];
            byte[] content = new byte[random.nextInt(140)];
            Arrays.fill(content, (byte) ('a' + random.nextInt(26)));
            boolean packed = (opcode & 0x40) != 0;
            int first = opcode | (random.nextBoolean() ? 0x80 : 0);
            frames[i] = Frames.frame(first, packed ? Frames.deflated(content) : content, true);
        }
        byte[] all = Frames.join(frames);
        return random.nextInt(3) == 0 ? all : changed(random, all);
    }

    private static byte[] changed(Random random, byte[] good) {
        byte[] bad = good.clone();
        for (int i = 1 + random.nextInt(3); i > 0 && bad.length > 0; i--) {
            bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return bad;
    }
}
