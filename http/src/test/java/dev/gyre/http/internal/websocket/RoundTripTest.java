package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.StreamConfig;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// Whatever messages are sent, in whatever fragments and pieces, compressed or not, with pings between: they come out
/// the same.
@On("simulated")
class RoundTripTest {
    private final List<byte[]> frames = new ArrayList<>();
    private final List<String> expected = new ArrayList<>();

    @Clause("K-1")
    @Property(tries = 200)
    void messages_ofAnySortSplitAnyhow_comeOutTheSame(
            @ForAll long seed, @ForAll boolean compressed) {
        frames.clear();
        expected.clear();
        Random random = new Random(seed);
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            addMessage(random, compressed);
        }
        List<String> got = new ArrayList<>();
        try (ServerSide server =
                ServerSide.of(
                        WebSocketConfig.DEFAULT,
                        compressed,
                        StreamConfig.DEFAULT,
                        socket -> {
                            socket.onText(text -> got.add(Frames.text(text)));
                            socket.onBinary(data -> got.add(Frames.binary(data.getBytes())));
                            socket.onPing(ping -> got.add("ping " + ping.readable()));
                        })) {
            byte[] all = Frames.join(frames.toArray(new byte[0][]));
            for (int at = 0; at < all.length; ) {
                int count = Math.min(all.length - at, 1 + random.nextInt(1 + all.length / 3));
                server.peer.send(Arrays.copyOfRange(all, at, at + count));
                server.world.run();
                at += count;
            }
        }
        assertThat(got).as("seed %d", seed).isEqualTo(expected);
    }

    private void addMessage(Random random, boolean compressed) {
        boolean text = random.nextBoolean();
        byte[] content = text ? Frames.utf8(words(random)) : noise(random);
        boolean packed = compressed && random.nextBoolean();
        byte[] carried = packed ? Frames.deflated(content) : content;
        int opcode = (text ? Frames.TEXT : Frames.BINARY) | (packed ? 0x40 : 0);
        int at = 0;
        while (random.nextInt(3) > 0) {
            int count = random.nextInt(1 + carried.length - at);
            frames.add(Frames.frame(opcode, Arrays.copyOfRange(carried, at, at + count), true));
            opcode = Frames.CONTINUATION;
            at += count;
            if (random.nextInt(4) == 0) {
                byte[] ping = new byte[random.nextInt(126)];
                frames.add(Frames.frame(Frames.PING, ping));
                expected.add("ping " + ping.length);
            }
        }
        byte[] rest = Arrays.copyOfRange(carried, at, carried.length);
        frames.add(Frames.frame(0x80 | opcode, rest, true));
        expected.add(text ? Frames.text(new String(content, UTF_8)) : Frames.binary(content));
    }

    private static String words(Random random) {
        StringBuilder made = new StringBuilder();
        String[] words = {"a", "bc ", "é", "€", "😀", "\0", "word ", "κόσμε"};
        for (int i = random.nextInt(random.nextInt(10) == 0 ? 30_000 : 50); i > 0; i--) {
            made.append(words[random.nextInt(words.length)]);
        }
        return made.toString();
    }

    private static byte[] noise(Random random) {
        byte[] made = new byte[random.nextInt(random.nextInt(10) == 0 ? 100_000 : 200)];
        random.nextBytes(made);
        return made;
    }
}
