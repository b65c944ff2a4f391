package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.http.WebSocketConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

class ServerHandshakeTest {
    private static final String KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    private static final List<String> GOOD =
            List.of(
                    "Host: here",
                    "Upgrade: WebSocket",
                    "Connection: keep-alive, Upgrade",
                    KEY,
                    "Sec-WebSocket-Version: 13");

    private static ServerHandshake.Decision answer(WebSocketConfig config, List<String> lines) {
        return ServerHandshake.decide("GET", false, false, "here", new TestHeaders(lines), config);
    }

    private static ServerHandshake.Accepted accepted(WebSocketConfig config, String... more) {
        List<String> lines = new ArrayList<>(GOOD);
        lines.addAll(Arrays.asList(more));
        assertThat(answer(config, lines)).isInstanceOf(ServerHandshake.Accepted.class);
        return (ServerHandshake.Accepted) answer(config, lines);
    }

    private static ServerHandshake.Rejected refused(List<String> lines) {
        assertThat(answer(WebSocketConfig.DEFAULT, lines))
                .isInstanceOf(ServerHandshake.Rejected.class);
        return (ServerHandshake.Rejected) answer(WebSocketConfig.DEFAULT, lines);
    }

    private static List<String> with(String old, String... now) {
        List<String> lines = new ArrayList<>(GOOD);
        lines.removeIf(line -> line.startsWith(old));
        lines.addAll(Arrays.asList(now));
        return lines;
    }

    @Clause("K-1")
    @Test
    void answer_toTheExampleOfTheRfc_isThatOfTheRfc() {
        ServerHandshake.Accepted accepted = accepted(WebSocketConfig.DEFAULT);
        assertThat(accepted.accept()).isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assertThat(accepted.protocol()).isNull();
        assertThat(accepted.extensions()).isNull();
    }

    @Clause("K-1")
    @Test
    void answer_withoutTheUpgrade_asksForIt() {
        for (String each : List.of("Upgrade", "Connection")) {
            ServerHandshake.Rejected refused = refused(with(each));
            assertThat(refused.status()).as("without %s", each).isEqualTo(426);
            assertThat(refused.headers())
                    .containsEntry("Sec-WebSocket-Version", "13")
                    .containsEntry("Upgrade", "websocket");
        }
    }

    @Clause("K-1")
    @ParameterizedTest
    @ValueSource(strings = {"8", "14", "", "13, 8"})
    void answer_toAnotherVersion_saysWhichOne(String version) {
        ServerHandshake.Rejected refused =
                refused(with("Sec-WebSocket-Version", "Sec-WebSocket-Version: " + version));
        assertThat(refused.status()).isEqualTo(426);
        assertThat(refused.headers()).containsEntry("Sec-WebSocket-Version", "13");
    }

    @Clause("K-1")
    @Test
    void answer_toAWrongKey_is400() {
        String name = "Sec-WebSocket-Key";
        assertThat(refused(with(name)).status()).as("no key").isEqualTo(400);
        assertThat(refused(with(name, KEY, KEY)).status()).as("two keys").isEqualTo(400);
        assertThat(refused(with(name, name + ": !!!")).status()).as("not base64").isEqualTo(400);
        assertThat(refused(with(name, name + ": AAAA")).status()).as("3 bytes").isEqualTo(400);
        assertThat(refused(with(name, KEY.replace("=", ""))).status())
                .as("without its padding")
                .isEqualTo(400);
    }

    @Clause("K-1")
    @Test
    void answer_toAnotherMethodOrHttp10_is400() {
        TestHeaders headers = new TestHeaders(GOOD);
        WebSocketConfig config = WebSocketConfig.DEFAULT;
        assertThat(ServerHandshake.decide("POST", false, false, "here", headers, config))
                .isInstanceOf(ServerHandshake.Rejected.class);
        assertThat(ServerHandshake.decide("GET", true, false, "here", headers, config))
                .isInstanceOf(ServerHandshake.Rejected.class);
    }

    @Clause("K-1")
    @Test
    void answer_toPagesOfOtherOrigins_is403() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withOrigins("https://here.example");
        accepted(config, "Origin: https://HERE.example");
        accepted(config); // No browser, which could say anything.
        List<String> elsewhere = with("nothing", "Origin: https://elsewhere.example");
        assertThat(answer(config, elsewhere))
                .isInstanceOfSatisfying(
                        ServerHandshake.Rejected.class,
                        refused -> assertThat(refused.status()).isEqualTo(403));
    }

    @Clause("K-1")
    @Test
    void answer_overTls_isForPagesOfHttps() {
        WebSocketConfig config = WebSocketConfig.DEFAULT;
        for (String origin : List.of("https://here", "https://here:443", "http://here")) {
            TestHeaders headers = new TestHeaders(with("nothing", "Origin: " + origin));
            assertThat(ServerHandshake.decide("GET", false, true, "here", headers, config))
                    .as(origin)
                    .isInstanceOf(
                            origin.startsWith("https")
                                    ? ServerHandshake.Accepted.class
                                    : ServerHandshake.Rejected.class);
        }
    }

    @Clause("K-1")
    @Test
    void answer_whereAllOriginsAreWelcome_isTheUpgrade() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withOrigins("*");
        accepted(config, "Origin: https://elsewhere.example");
        accepted(config, "Origin: null");
    }

    @Clause("K-1")
    @Test
    void protocol_isTheFirstOfOursThatIsOffered() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withProtocols("v2", "v1");
        String offer = "Sec-WebSocket-Protocol: ";
        assertThat(accepted(config, offer + "v1 , v2").protocol()).isEqualTo("v2");
        assertThat(accepted(config, offer + "v1", offer + "v0").protocol()).isEqualTo("v1");
        assertThat(accepted(config, offer + "V1").protocol()).as("case matters").isNull();
        assertThat(accepted(config).protocol()).isNull();
    }

    @Clause("K-1")
    @Test
    void protocol_thatIsNoToken_isRefusedAtOnce() {
        for (String wrong : List.of("", "a b", "a,b", "a\r\nb", "é")) {
            assertThatThrownBy(() -> WebSocketConfig.DEFAULT.withProtocols("good", wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + wrong + "'");
        }
    }

    @Clause("K-1")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                "permessage-deflate | ''",
                "permessage-deflate; client_max_window_bits | ''",
                "permessage-deflate; client_max_window_bits=9 | ''",
                "permessage-deflate; client_max_window_bits=\"10\" | ''",
                "permessage-deflate; server_max_window_bits=15 | ; server_max_window_bits=15",
                "permessage-deflate; server_max_window_bits=9 | none",
                "permessage-deflate; server_max_window_bits=9, permessage-deflate | ''",
                "x-webkit-deflate-frame, permessage-deflate;client_no_context_takeover | ''",
                "permessage-deflate; server_max_window_bits | none",
                "permessage-deflate; client_max_window_bits=16 | none",
                "permessage-deflate; client_max_window_bits=08 | none",
                "permessage-deflate; server_no_context_takeover=1 | none",
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover | none",
                "permessage-deflate; never_heard_of | none",
                "permessage-deflate; | none",
                "permessage-bzip2 | none",
            })
    void extensions_areAgreedOn_whereTheyCanBeKept(String offer, String more) {
        String answered =
                accepted(WebSocketConfig.DEFAULT, "Sec-WebSocket-Extensions: " + offer)
                        .extensions();
        String expected =
                more == null
                        ? null
                        : "permessage-deflate; server_no_context_takeover;"
                                + " client_no_context_takeover"
                                + more;
        assertThat(answered).as("the answer to %s", offer).isEqualTo(expected);
    }

    @Clause("K-1")
    @Test
    void extensions_whereCompressionIsOff_areNone() {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withCompression(false);
        assertThat(accepted(config, "Sec-WebSocket-Extensions: permessage-deflate").extensions())
                .isNull();
    }
}
