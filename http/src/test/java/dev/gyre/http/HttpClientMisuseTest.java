package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.EventLoop;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.util.concurrent.atomic.AtomicReference;

/// Requests that are rejected before they are sent.
class HttpClientMisuseTest {
    private final EventLoop loop = EventLoop.open();

    @AfterEach
    void close() {
        loop.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://host/",
                "/path",
                "http:///path",
                "http:opaque",
                "http://user@host/",
                "https://host:0/",
                "http://host:65536/",
                "http://my_host:0/",
                "http://my_host:port/",
                "http://user@my_host/",
                "http://-_/"
            })
    void uri_thatNobodyCanBeAskedFor_isRefused(String uri) {
        assertThatThrownBy(() -> HttpClient.on(loop).get(URI.create(uri)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void uri_thatIsRefused_namesWhatIsWrongWithIt() {
        HttpClient client = HttpClient.on(loop);
        assertThatThrownBy(() -> client.get(URI.create("http:///path")))
                .hasMessageContaining("but is http:///path");
        assertThatThrownBy(() -> client.get(URI.create("http://my_host:port/")))
                .hasMessageContaining("my_host:port is not a host");
        assertThatThrownBy(() -> client.get(URI.create("http://user:secret@my_host/")))
                .hasMessageContaining("Authorization")
                .hasMessageNotContaining("secret");
    }

    @Test
    void call_onAnotherThread_isRefusedAndSaysHowToAskFromThere() {
        HttpClient client = HttpClient.on(loop);
        AtomicReference<@Nullable Throwable> refused = new AtomicReference<>();
        loop.submit(
                () ->
                        loop.promisify(_ -> client.request("GET", URI.create("http://host/")))
                                .recover(
                                        why -> {
                                            refused.set(why);
                                            return null;
                                        }));
        loop.runUntilEmpty();
        assertThat(refused.get())
                .isInstanceOf(WrongThreadException.class)
                .hasMessageContaining("loop.call(() -> client.get(uri)).get()");
    }

    @Test
    void fields_thatWouldBeMoreThanOneLine_areRefused() {
        ClientRequest call = HttpClient.on(loop).request("GET", URI.create("http://host/"));
        assertThatThrownBy(() -> call.header("X", "a\r\nY: b"))
                .hasMessageContaining("character 13");
        assertThatThrownBy(() -> call.header("X", "a\nb")).hasMessageContaining("character 10");
        assertThatThrownBy(() -> call.header("X\r\nY", "b")).hasMessageContaining("character 13");
        assertThatThrownBy(() -> call.header("", "b")).hasMessageContaining("is empty");
        assertThatThrownBy(() -> call.header("content-LENGTH", "5"))
                .hasMessageContaining("is set automatically");
        assertThatThrownBy(() -> call.addHeader("Content-Length", "5"))
                .hasMessageContaining("is set automatically");
        call.addHeader("Host", "a");
        assertThatThrownBy(() -> call.addHeader("host", "b")).hasMessageContaining("one Host");
        assertThatThrownBy(() -> call.header("Transfer-Encoding", "chunked"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "http://other/", "/a b", "/a\r\nX: y", "/ä", "**"})
    void target_thatIsNone_isRefused(String target) {
        ClientRequest call = HttpClient.on(loop).request("GET", URI.create("http://host/"));
        assertThatThrownBy(() -> call.target(target))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("starts with a slash");
    }

    @ParameterizedTest
    @ValueSource(strings = {"get", "", "GET /x HTTP/1.1\r\nX:", "CONNECT", "G T"})
    void method_thatIsNone_isRefused(String method) {
        assertThatThrownBy(() -> HttpClient.on(loop).request(method, URI.create("http://host/")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("capitals");
    }

    @Test
    void tls_ofAServer_isRefused() {
        HttpClientConfig config =
                HttpClientConfig.DEFAULT.withStreams(
                        StreamConfig.DEFAULT.withTls(Tls.selfSigned("localhost")));
        assertThatThrownBy(() -> HttpClient.on(loop, config))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Tls.client()");
    }
}
