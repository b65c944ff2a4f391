package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;

class CorsTest {
    private static final String ORIGIN = "Origin: https://app.example";
    private static final String OTHER = "Origin: https://evil.example";
    private static final String ASKS = "Access-Control-Request-Method: PUT";

    private static ServedSite site(Cors cors) {
        return new ServedSite(
                server ->
                        server.use(cors)
                                .get("/", (_, response) -> response.text("hello"))
                                .put("/", (_, response) -> response.text("put")));
    }

    private static Cors some() {
        return Cors.of("https://app.example", "https://b.example:8443")
                .withMethods("GET", "PUT")
                .withHeaders("Content-Type", "X-Token")
                .withExposedHeaders("X-Total")
                .withCredentials(true)
                .withMaxAge(Duration.ofMinutes(1));
    }

    @Test
    void preflight_ofAnAllowedOrigin_isAnsweredWithWhatIsAllowed() throws Exception {
        try (ServedSite site = site(some())) {
            var answer =
                    site.ask(
                            "OPTIONS",
                            "/",
                            ORIGIN,
                            ASKS,
                            "Access-Control-Request-Headers: x-token");
            assertThat(answer.status()).isEqualTo(204);
            assertThat(answer.field("Access-Control-Allow-Origin"))
                    .isEqualTo("https://app.example");
            assertThat(answer.field("Access-Control-Allow-Methods")).isEqualTo("GET, PUT");
            assertThat(answer.field("Access-Control-Allow-Headers"))
                    .isEqualTo("Content-Type, X-Token");
            assertThat(answer.field("Access-Control-Allow-Credentials")).isEqualTo("true");
            assertThat(answer.field("Access-Control-Max-Age")).isEqualTo("60");
            assertThat(answer.field("Vary")).isEqualTo("Origin");
        }
    }

    @Test
    void origin_writtenInAnotherWay_isThatWhichBrowsersSay() throws Exception {
        try (ServedSite site = site(Cors.of("https://App.Example", "HTTPS://app.example:443"))) {
            assertThat(site.get("/", ORIGIN).field("Access-Control-Allow-Origin"))
                    .isEqualTo("https://app.example");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://a.example/",
                "https://a.example,https://b.example",
                "https://*.example",
                "https://me@a.example",
                "https://b\u00fccher.example",
                "https://",
                "https://a.example:port",
                "a.example"
            })
    void origin_thatNoBrowserSays_isRefused(String origin) {
        assertThatThrownBy(() -> Cors.of(origin))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(origin);
    }

    @Test
    void preflight_ofAnotherOrigin_isRefused() throws Exception {
        try (ServedSite site = site(some())) {
            var answer = site.ask("OPTIONS", "/", OTHER, ASKS);
            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.has("Access-Control-Allow-Origin")).isFalse();
            assertThat(answer.field("Vary")).isEqualTo("Origin");
        }
    }

    @Test
    void options_withoutAsking_isAnOrdinaryRequest() throws Exception {
        try (ServedSite site = site(some())) {
            assertThat(site.ask("OPTIONS", "/", ORIGIN).field("Allow")).contains("GET");
        }
    }

    @Test
    void get_ofAnAllowedOrigin_saysThatItMayBeRead() throws Exception {
        try (ServedSite site = site(some())) {
            var answer = site.get("/", ORIGIN);
            assertThat(answer.text()).isEqualTo("hello");
            assertThat(answer.field("Access-Control-Allow-Origin"))
                    .isEqualTo("https://app.example");
            assertThat(answer.field("Access-Control-Expose-Headers")).isEqualTo("X-Total");
            assertThat(answer.field("Vary")).isEqualTo("Origin");
        }
    }

    @Test
    void get_ofAnotherOriginOrNone_saysNothing() throws Exception {
        try (ServedSite site = site(some())) {
            for (String[] fields :
                    new String[][] {
                        {}, {OTHER}, {"Origin: null"}, {"Origin: https://app.example.evil"}
                    }) {
                var answer = site.get("/", fields);
                assertThat(answer.text()).isEqualTo("hello");
                assertThat(answer.has("Access-Control-Allow-Origin")).isFalse();
                assertThat(answer.field("Vary")).isEqualTo("Origin");
            }
        }
    }

    @Test
    void errors_ofAnAllowedOrigin_mayBeReadToo() throws Exception {
        try (ServedSite site =
                        new ServedSite(
                                server ->
                                        server.use(some())
                                                .get(
                                                        "/fails",
                                                        (_, response) -> {
                                                            response.header("X", "gone");
                                                            throw new HttpException(409, "no");
                                                        }));
                var socket = site.connect()) {
            for (String path : new String[] {"/fails", "/none"}) {
                var answer = site.ask(socket, "GET", path, ORIGIN);
                assertThat(answer.status()).isIn(409, 404);
                assertThat(answer.field("Access-Control-Allow-Origin"))
                        .isEqualTo("https://app.example");
                assertThat(answer.has("X")).as("what the handler had set is gone").isFalse();
            }
            var next = site.ask(socket, "GET", "/none");
            assertThat(next.has("Access-Control-Allow-Origin"))
                    .as("fields of one request are not the next one's")
                    .isFalse();
        }
    }

    @Test
    void anyOrigin_isSaidWithoutAName() throws Exception {
        try (ServedSite site = site(Cors.anyOrigin())) {
            var answer = site.get("/", OTHER);
            assertThat(answer.field("Access-Control-Allow-Origin")).isEqualTo("*");
            assertThat(answer.has("Vary")).isFalse();
        }
    }

    @Test
    void settings_thatWouldBeUnsafeOrWrong_areRefused() {
        assertThatThrownBy(() -> Cors.anyOrigin().withCredentials(true))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Cors.of("https://app.example/"))
                .hasMessageContaining("https://app.example/");
        assertThatThrownBy(() -> Cors.of("app.example")).hasMessageContaining("app.example");
        assertThatThrownBy(() -> Cors.of("*")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> some().withHeaders("a b")).hasMessageContaining("a b");
        assertThatThrownBy(() -> some().withMaxAge(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
