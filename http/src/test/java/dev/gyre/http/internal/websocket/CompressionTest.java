package dev.gyre.http.internal.websocket;

import static dev.gyre.http.internal.websocket.Frames.BINARY;
import static dev.gyre.http.internal.websocket.Frames.CONTINUATION;
import static dev.gyre.http.internal.websocket.Frames.PING;
import static dev.gyre.http.internal.websocket.Frames.TEXT;
import static dev.gyre.http.internal.websocket.Frames.binary;
import static dev.gyre.http.internal.websocket.Frames.deflated;
import static dev.gyre.http.internal.websocket.Frames.frame;
import static dev.gyre.http.internal.websocket.Frames.part;
import static dev.gyre.http.internal.websocket.Frames.text;
import static dev.gyre.http.internal.websocket.Frames.utf8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.ServerSide.Split;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

/// permessage-deflate: families 12 and 13, and what peers may try with it.
@On("simulated")
class CompressionTest {
    private static final int PACKED = 0x40;
    private static final int LAST = 0x80;

    private static byte[] packed(int opcode, byte[] content) {
        return frame(LAST | PACKED | opcode, deflated(content), true);
    }

    private static ServerSide server() {
        return ServerSide.echo(WebSocketConfig.DEFAULT, true);
    }

    /// Words, as texts are: they can be compressed, and are not all the same.
    private static String words(int length) {
        Random random = new Random(length);
        StringBuilder made = new StringBuilder();
        while (made.length() < length) {
            made.append("{\"id\":").append(random.nextInt(1000)).append(",\"name\":\"née\"},");
        }
        return made.substring(0, length);
    }

    @Clause("K-1")
    @ParameterizedTest
    @EnumSource(Split.class)
    void messages_ofManySizes_comeBackCompressed(Split split) {
        for (int length :
                new int[] {0, 1, 16, 63, 64, 256, 1024, 4096, 8192, 16_384, 65_536, 131_072}) {
            if (split == Split.EVERY_BYTE && length > 1024) {
                continue;
            }
            String content = words(length);
            try (ServerSide server = server()) {
                server.send(split, packed(TEXT, utf8(content)));
                String expected = (length >= 64 ? "packed " : "") + text(content);
                assertThat(server.answers())
                        .as("a message of %d characters, split %s", length, split)
                        .containsExactly(expected);
            }
        }
    }

    @Clause("K-1")
    @Test
    void message_thatDoesNotShrink_comesBackAsItIs() {
        byte[] noise = new byte[5000];
        new Random(3).nextBytes(noise);
        try (ServerSide server = server()) {
            server.send(packed(BINARY, noise));
            assertThat(server.answers()).containsExactly(binary(noise));
        }
    }

    @Clause("K-1")
    @Test
    void message_inFragmentsWithPingsBetween_isInflated() {
        String content = words(500);
        byte[] all = deflated(utf8(content));
        byte[] head = Arrays.copyOfRange(all, 0, 20);
        byte[] tail = Arrays.copyOfRange(all, 20, all.length);
        try (ServerSide server = server()) {
            server.send(
                    frame(PACKED | TEXT, head, true),
                    frame(PING, "x"),
                    part(CONTINUATION, ""),
                    frame(CONTINUATION, tail));
            assertThat(server.answers()).containsExactly("pong 78", "packed " + text(content));
        }
    }

    @Clause("K-1")
    @Test
    void messages_oneAfterTheOther_areInflatedEachByItself() {
        try (ServerSide server = server()) {
            String content = words(300);
            for (int i = 0; i < 5; i++) {
                server.send(packed(TEXT, utf8(content)), frame(TEXT, "plain"));
            }
            assertThat(server.answers())
                    .hasSize(10)
                    .containsOnly("packed " + text(content), text("plain"));
        }
    }

    @Clause("K-1")
    @Test
    void lastBlock_beforeTheEndOfTheMessage_isNotTheEnd() {
        // The example of RFC 7692, section 7.2.3.4, and two such blocks in a row.
        byte[] hello = HexFormat.of().parseHex("f348cdc9c9070000");
        byte[] twice = HexFormat.of().parseHex("f348cdc9c90700f348cdc9c9070000");
        try (ServerSide server = server()) {
            server.send(
                    frame(LAST | PACKED | TEXT, hello, true),
                    frame(LAST | PACKED | TEXT, twice, true));
            assertThat(server.answers()).containsExactly(text("Hello"), text("HelloHello"));
        }
    }

    /// Empty blocks of which each says that it is the last.
    private static byte[] lastBlocks(int count) {
        byte[] blocks = new byte[2 * count];
        for (int i = 0; i < blocks.length; i += 2) {
            blocks[i] = 3;
        }
        return blocks;
    }

    @Clause("K-1")
    @Test
    void lastBlocks_ofAMessage_areAFewAndNoMore() {
        try (ServerSide server = server()) {
            server.send(
                    frame(LAST | PACKED | BINARY, lastBlocks(64), true),
                    frame(LAST | PACKED | BINARY, lastBlocks(65), true));
            assertThat(server.answers()).containsExactly(binary(new byte[0]), "close 1007");
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatInflateToNothing_areWorkAllTheSame() {
        // Empty blocks without compression, none of which says that it is the last.
        byte[] nothing = new byte[60_001];
        for (int i = 0; i + 5 < nothing.length; i += 5) {
            nothing[i + 3] = (byte) 0xff;
            nothing[i + 4] = (byte) 0xff;
        }
        try (ServerSide server = server()) {
            WebSocketScratch bench = WebSocketScratch.of(server.world.loop());
            long before = bench.workedBytes();
            server.send(frame(LAST | PACKED | BINARY, nothing, true));
            assertThat(server.answers()).containsExactly(binary(new byte[0]));
            assertThat(bench.workedBytes() - before)
                    .as("what counts against MOST_WORK_BYTES of a turn")
                    .isEqualTo(nothing.length);
        }
    }

    @Clause("K-1")
    @Test
    void examples_ofTheRfc_areInflated() {
        try (ServerSide server = server()) {
            for (String hex :
                    new String[] {
                        "f248cdc9c90700", "000500faff48656c6c6f00", "f248050000 00ffffcac9c90700"
                    }) {
                byte[] content = HexFormat.of().parseHex(hex.replace(" ", ""));
                server.send(frame(LAST | PACKED | TEXT, content, true));
            }
            assertThat(server.answers()).hasSize(3).containsOnly(text("Hello"));
        }
    }

    @Clause("K-1")
    @Test
    void bit_onAContinuation_isRefused() {
        try (ServerSide server = server()) {
            server.send(part(TEXT, "a"), frame(LAST | PACKED | CONTINUATION, utf8("b"), true));
            assertThat(server.answers()).containsExactly("close 1002");
        }
    }

    @Clause("K-1")
    @Test
    void content_thatIsNoDeflate_isRefused() {
        try (ServerSide server = server()) {
            server.send(frame(LAST | PACKED | BINARY, HexFormat.of().parseHex("ffffffff"), true));
            assertThat(server.answers()).containsExactly("close 1007");
        }
    }

    @Clause("K-1")
    @Test
    void text_thatInflatesToNoUtf8_isRefused() {
        for (String hex : ConformanceCases.NOT_UTF8) {
            try (ServerSide server = server()) {
                server.send(packed(TEXT, HexFormat.of().parseHex(hex)));
                assertThat(server.answers()).as(hex).containsExactly("close 1007");
            }
        }
    }

    @Clause("K-1")
    @Test
    void bomb_isStoppedAtTheLimit() {
        byte[] bomb = deflated(new byte[50 << 20]);
        assertThat(bomb).hasSizeLessThan(64 << 10);
        try (ServerSide server = server()) {
            server.send(frame(LAST | PACKED | BINARY, bomb, true));
            assertThat(server.answers())
                    .as("50 MiB of 50 KiB: MessageAssembly stops at maxMessage")
                    .containsExactly("close 1009");
        }
    }

    @Clause("K-1")
    @Test
    void message_ofTheLimit_isTaken_andOneByteMoreIsNot() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withMaxMessage(1000);
        try (ServerSide server = ServerSide.echo(config, true)) {
            server.send(packed(BINARY, new byte[1000]), packed(BINARY, new byte[1001]));
            assertThat(server.answers())
                    .containsExactly("packed " + binary(new byte[1000]), "close 1009");
        }
    }

    @Clause("K-1")
    @Test
    void fragments_thatReachTheLimit_areTaken_andOneByteMoreIsNot() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withMaxMessage(1000);
        for (boolean compression : new boolean[] {true, false}) {
            try (ServerSide server = ServerSide.echo(config, compression)) {
                server.send(
                        part(BINARY, new byte[400]),
                        part(CONTINUATION, new byte[599]),
                        frame(LAST | CONTINUATION, new byte[1], true),
                        part(BINARY, new byte[400]),
                        part(CONTINUATION, new byte[600]),
                        frame(LAST | CONTINUATION, new byte[1], true));
                String whole = (compression ? "packed " : "") + binary(new byte[1000]);
                assertThat(server.answers()).containsExactly(whole, "close 1009");
            }
        }
    }

    @Clause("K-1")
    @Test
    void packedBytes_beyondTheLimit_areRefused_alsoIfNothingComesOfThem() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withMaxMessage(1000);
        byte[] emptyBlocks = new byte[5 * 400];
        for (int i = 0; i < emptyBlocks.length; i += 5) {
            emptyBlocks[i + 3] = (byte) 0xff;
            emptyBlocks[i + 4] = (byte) 0xff;
        }
        try (ServerSide server = ServerSide.echo(config, true)) {
            server.send(frame(LAST | PACKED | BINARY, emptyBlocks, true));
            assertThat(server.answers()).as("in one frame").containsExactly("close 1009");
        }
        try (ServerSide server = ServerSide.echo(config, true)) {
            byte[] some = Arrays.copyOf(emptyBlocks, 500);
            server.send(
                    frame(PACKED | BINARY, some, true),
                    part(CONTINUATION, some),
                    part(CONTINUATION, some));
            assertThat(server.answers()).as("in several").containsExactly("close 1009");
        }
    }

    @Clause("K-1")
    @Test
    void message_ofTheLimitThatCannotBeCompressed_isTaken() {
        byte[] noise = new byte[1000];
        new Random(3).nextBytes(noise);
        try (ServerSide server =
                ServerSide.echo(WebSocketConfig.DEFAULT.withMaxMessage(1000), true)) {
            byte[] packed = deflated(noise);
            assertThat(packed).hasSizeGreaterThan(1000);
            server.send(frame(LAST | PACKED | BINARY, packed, true));
            assertThat(server.answers()).containsExactly(binary(noise));
        }
    }

    @Clause("K-1")
    @Test
    void message_thatIsCutOff_isRefused_whereverThatIs() {
        byte[] fixed = deflated(utf8("Hello, and hello again"));
        byte[] dynamic = deflated(utf8(words(3000)));
        byte[] stored = HexFormat.of().parseHex("000800f7ff4142434445464748" + "00");
        try (ServerSide server = server()) {
            Inflation inflation = WebSocketScratch.of(server.world.loop()).inflation;
            for (byte[] whole : new byte[][] {fixed, dynamic, stored}) {
                assertThat(inflation.inflate(whole, whole.length, 1 << 20)).isNull();
                // The first byte of a stored block is a whole message, of nothing.
                for (int length = 2; length < whole.length; length++) {
                    assertThat(inflation.inflate(whole, length, 1 << 20))
                            .as("%d of %d bytes", length, whole.length)
                            .isEqualTo(ProtocolError.NOT_DEFLATE);
                }
            }
            server.send(frame(LAST | PACKED | BINARY, Arrays.copyOf(stored, 7), true));
            assertThat(server.answers()).containsExactly("close 1007");
        }
    }
}
