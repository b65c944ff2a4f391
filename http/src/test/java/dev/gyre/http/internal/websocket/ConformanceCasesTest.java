package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.ConformanceCases.Case;
import dev.gyre.http.internal.websocket.ServerSide.Split;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.HexFormat;

/// Clause K-1, case by case, with the bytes of each case split in several ways.
@On("simulated")
class ConformanceCasesTest {
    /// Cases with more bytes are not sent byte by byte.
    private static final int MOST_SINGLE_BYTES = 400;

    @Clause("K-1")
    @ParameterizedTest
    @EnumSource(Split.class)
    void cases_howeverSplit_areAnsweredAsTheyShould(Split split) {
        for (Case each : ConformanceCases.all()) {
            if (split != Split.EVERY_BYTE || each.sent().length <= MOST_SINGLE_BYTES) {
                check(each, split, false);
            }
        }
    }

    /// What is not compressed is not treated otherwise where it could be; the first reserved bit aside.
    @Clause("K-1")
    @Test
    void cases_whereCompressionIsAgreedOn_areAnsweredAsTheyShould() {
        for (Case each : ConformanceCases.all()) {
            if (!each.name().startsWith("3 ")) {
                check(each, Split.AT_RANDOM, true);
            }
        }
    }

    private static void check(Case each, Split split, boolean compressed) {
        try (ServerSide server = ServerSide.echo(WebSocketConfig.DEFAULT, compressed)) {
            server.send(split, each.sent());
            assertThat(server.answers().stream().map(told -> told.replace("packed ", "")))
                    .as("what '%s' is answered, split %s: see Violation and Closing", each, split)
                    .containsExactlyElementsOf(each.expected());
            assertThat(server.peer.isEnded())
                    .as("the server ends the stream after '%s'", each)
                    .isTrue();
            assertThat(server.events).as("onClose, once, after '%s'", each).hasSize(1);
        }
    }

    /// Family 6.4: what is wrong is told before the frame, or the character, is complete.
    @Clause("K-1")
    @Test
    void text_thatGoesWrongInsideAFrame_isRefusedWithThatByte() {
        for (String hex : ConformanceCases.NOT_UTF8) {
            byte[] wrong = HexFormat.of().parseHex(hex);
            byte[] frame = Frames.frame(Frames.TEXT, Frames.join(wrong, new byte[100]));
            int early =
                    frame.length - 99; // With the first byte that cannot follow, whatever it is.
            try (ServerSide server = ServerSide.echo(WebSocketConfig.DEFAULT, false)) {
                server.send(Split.EVERY_BYTE, Arrays.copyOf(frame, early));
                assertThat(server.answers())
                        .as("%s is refused although 99 bytes of its frame are missing", hex)
                        .containsExactly("close 1007");
            }
        }
    }

    @Clause("K-1")
    @Test
    void text_thatGoesWrongInAFragment_isRefusedBeforeTheNext() {
        try (ServerSide server = ServerSide.echo(WebSocketConfig.DEFAULT, false)) {
            server.send(Frames.part(Frames.TEXT, "κόσμε"));
            assertThat(server.answers()).isEmpty();
            byte[] beyond = HexFormat.of().parseHex("f490");
            server.send(Frames.part(Frames.CONTINUATION, beyond));
            assertThat(server.answers())
                    .as("f4 90 is beyond U+10FFFF, whatever follows: Utf8Check tells by bounds")
                    .containsExactly("close 1007");
        }
    }
}
