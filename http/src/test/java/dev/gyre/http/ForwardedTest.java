package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.Stream;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;

/// Client address, scheme and host behind proxies. All requests come from 127.0.0.1.
@On("simulated")
class ForwardedTest extends HttpFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    private void trust(String... proxies) {
        trust(ForwardedHeaders.X_FORWARDED, proxies);
    }

    private void trust(ForwardedHeaders headers, String... proxies) {
        configure(
                HttpConfig.DEFAULT
                        .withTrustedProxies(proxies)
                        .withForwardedHeaders(headers)
                        .withForwardedHost(true));
        server.get(
                "/",
                (request, response) -> {
                    InetSocketAddress client = (InetSocketAddress) request.clientAddress();
                    return response.text(
                            client.getAddress().getHostAddress()
                                    + " "
                                    + request.scheme()
                                    + " "
                                    + request.host());
                });
    }

    /// @param headers separated by `|`
    private String seen(String headers) {
        String lines = headers.isEmpty() ? "" : "\r\n" + headers.replace("|", "\r\n");
        return contentOf(ask("GET / HTTP/1.1\r\nHost: h:81" + lines, ""));
    }

    @Test
    @Clause("H-7")
    void headers_ofAClientThatIsNotTrusted_doNotCount() {
        String forged = "X-Forwarded-For: 1.2.3.4|X-Forwarded-Proto: https|X-Forwarded-Host: evil";
        trust();
        assertThat(seen(forged)).isEqualTo("127.0.0.1 http h:81");
        assertThat(seen("Forwarded: for=1.2.3.4;proto=https;host=evil"))
                .isEqualTo("127.0.0.1 http h:81");
    }

    @Test
    @Clause("H-7")
    void headers_ofAProxyInAnotherRange_doNotCount() {
        trust("127.0.0.2", "10.0.0.0/8", "::1", "unix");
        assertThat(seen("X-Forwarded-For: 1.2.3.4|X-Forwarded-Proto: https"))
                .isEqualTo("127.0.0.1 http h:81");
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource(
            delimiter = '>',
            textBlock =
                    """
                    X-Forwarded-For: 1.2.3.4                            > 1.2.3.4 http h:81
                    X-Forwarded-For: 6.6.6.6, 1.2.3.4                   > 1.2.3.4 http h:81
                    X-Forwarded-For: 6.6.6.6, 1.2.3.4, 10.9.9.9         > 1.2.3.4 http h:81
                    X-Forwarded-For: 6.6.6.6|X-Forwarded-For: 1.2.3.4   > 1.2.3.4 http h:81
                    X-Forwarded-For: 10.1.1.1, 10.2.2.2                 > 10.1.1.1 http h:81
                    X-Forwarded-For: 1.2.3.4:567                        > 1.2.3.4 http h:81
                    X-Forwarded-For: 2001:db8::7                        > 2001:db8:0:0:0:0:0:7 http h:81
                    X-Forwarded-For: [2001:db8::7]:99                   > 2001:db8:0:0:0:0:0:7 http h:81
                    X-Forwarded-For: 6.6.6.6, nonsense                  > 127.0.0.1 http h:81
                    X-Forwarded-For: 6.6.6.6, unknown, 10.2.2.2         > 10.2.2.2 http h:81
                    X-Forwarded-For: 6.6.6.6,                           > 127.0.0.1 http h:81
                    X-Forwarded-For: 999.1.1.1                          > 127.0.0.1 http h:81
                    X-Forwarded-For: localhost                          > 127.0.0.1 http h:81
                    X-Forwarded-Proto: https                            > 127.0.0.1 https h:81
                    X-Forwarded-Proto: HTTPS|X-Forwarded-Host: a.b:1    > 127.0.0.1 https a.b:1
                    X-Forwarded-Proto: javascript                       > 127.0.0.1 http h:81
                    X-Forwarded-Host: a b                               > 127.0.0.1 http h:81
                    X-Forwarded-For: 6.6.6.6, 1.2.3.4|X-Forwarded-Proto: https, http > 1.2.3.4 http h:81
                    X-Forwarded-For: 1.2.3.4, 10.2.2.2|X-Forwarded-Proto: https, http > 1.2.3.4 https h:81
                    X-Forwarded-For: 1.2.3.4, 10.2.2.2|X-Forwarded-Proto: https > 1.2.3.4 https h:81
                    """)
    void client_isTheLastAddressThatIsNoTrustedProxy(String headers, String expected) {
        trust("127.0.0.1", "10.0.0.0/8");
        assertThat(seen(headers.strip())).isEqualTo(expected.strip());
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource(
            delimiter = '>',
            textBlock =
                    """
                    Forwarded: for=1.2.3.4                              > 1.2.3.4 http h:81
                    Forwarded: for=1.2.3.4;proto=https;host="a.b:1";by=x > 1.2.3.4 https a.b:1
                    Forwarded: FOR="[2001:db8::7]:4711"                 > 2001:db8:0:0:0:0:0:7 http h:81
                    Forwarded: for=6.6.6.6;host=evil, for=1.2.3.4;host=a > 1.2.3.4 http a
                    Forwarded: for=6.6.6.6;host=evil, for=1.2.3.4       > 1.2.3.4 http h:81
                    Forwarded: for=6.6.6.6|Forwarded: for=1.2.3.4       > 1.2.3.4 http h:81
                    Forwarded: for=1.2.3.4;proto=https, for=10.2.2.2;proto=http > 1.2.3.4 https h:81
                    Forwarded: for=_hidden, for=10.2.2.2                > 10.2.2.2 http h:81
                    Forwarded: for=1.2.3.4;;                            > 127.0.0.1 http h:81
                    Forwarded: for="1.2.3.4                             > 127.0.0.1 http h:81
                    Forwarded: nonsense                                 > 127.0.0.1 http h:81
                    Forwarded: nonsense, for=1.2.3.4                    > 1.2.3.4 http h:81
                    Forwarded: for="6.6.6.6, for="1.2.3.4"              > 1.2.3.4 http h:81
                    Forwarded: for="|Forwarded: for=1.2.3.4;proto=https > 1.2.3.4 https h:81
                    """)
    void client_byTheStandardHeader_isTheLastAddressThatIsNoTrustedProxy(
            String headers, String expected) {
        trust(ForwardedHeaders.FORWARDED, "127.0.0.1", "10.0.0.0/8");
        assertThat(seen(headers.strip())).isEqualTo(expected.strip());
    }

    @Test
    @Clause("H-7")
    void otherKindOfHeaders_isIgnored() {
        trust("127.0.0.1");
        String real = "X-Forwarded-For: 1.2.3.4|X-Forwarded-Proto: https";
        for (String forged :
                new String[] {"for=6.6.6.6", "nonsense", "for=127.0.0.1;proto=http;host=evil"}) {
            assertThat(seen(real + "|Forwarded: " + forged)).isEqualTo("1.2.3.4 https h:81");
        }
        assertThat(seen("Forwarded: for=6.6.6.6;proto=https")).isEqualTo("127.0.0.1 http h:81");
    }

    @Test
    @Clause("H-7")
    void otherKindOfHeaders_withTheStandardHeader_isIgnored() {
        trust(ForwardedHeaders.FORWARDED, "127.0.0.1");
        String forged = "X-Forwarded-For: 6.6.6.6|X-Forwarded-Proto: https|X-Forwarded-Host: evil";
        assertThat(seen(forged + "|Forwarded: for=1.2.3.4")).isEqualTo("1.2.3.4 http h:81");
        assertThat(seen(forged)).isEqualTo("127.0.0.1 http h:81");
    }

    @Test
    @Clause("H-7")
    void forwardedHost_doesNotSelectTheVirtualHost() {
        for (boolean used : new boolean[] {false, true}) {
            HttpServer hosts =
                    HttpServer.on(
                            loop,
                            HttpConfig.DEFAULT
                                    .withTrustedProxies("127.0.0.0/8")
                                    .withForwardedHost(used));
            hosts.host("admin.internal", a -> a.get("/", (_, response) -> response.text("admin")));
            hosts.get("/", (_, response) -> response.text("public"));
            hosts.listen("127.0.0.1", used ? 81 : 80);
            Talk talk = new Talk(this, outcome(Stream.connect(loop, hosts.address())));
            talk.send(
                    """
                    GET / HTTP/1.1
                    Host: a.example
                    X-Forwarded-Host: admin.internal

                    """
                            .replace("\n", "\r\n"));
            assertThat(talk.answer(200)).isEqualTo("public");
        }
    }

    /// @param headers separated by `|`
    private String upgraded(String headers) {
        Talk talk =
                connect()
                        .send(
                                "GET /ws HTTP/1.1\r\nHost: backend:90\r\nUpgrade: websocket\r\n"
                                        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                        + headers.replace("|", "\r\n")
                                        + "\r\n\r\n");
        runUntil("a response", () -> talk.received().contains("\r\n\r\n"));
        return talk.received();
    }

    @Test
    @Clause("K-1")
    void origin_ofAWebSocket_isComparedWithTheForwardedHostAndScheme() {
        trust("127.0.0.1");
        server.webSocket("/ws", _ -> {});
        String forwarded = "X-Forwarded-Host: a.example|X-Forwarded-Proto: https|Origin: ";
        assertThat(upgraded(forwarded + "https://a.example")).startsWith("HTTP/1.1 101 ");
        assertThat(upgraded(forwarded + "http://a.example")).startsWith("HTTP/1.1 403 ");
        assertThat(upgraded(forwarded + "https://backend:90")).startsWith("HTTP/1.1 403 ");
    }

    @Test
    @Clause("H-7")
    void forwardedHost_countsOnlyIfItIsEnabled() {
        configure(HttpConfig.DEFAULT.withTrustedProxies("127.0.0.1"));
        server.get("/", (q, response) -> response.text(q.scheme() + " " + q.host()));
        String forged = "X-Forwarded-Host: evil|X-Forwarded-Proto: https";
        assertThat(seen(forged)).isEqualTo("https h:81");
    }

    @ParameterizedTest
    @Clause("H-7")
    @ValueSource(
            strings = {
                "",
                "a.example",
                "10.0.0.0/33",
                "::/129",
                "10.0.0.0/",
                "10.0.0/8",
                "1.2.3.4/-1"
            })
    void trustedProxy_thatIsMalformed_isRefusedWithTheRemedy(String proxy) {
        assertThatThrownBy(() -> HttpConfig.DEFAULT.withTrustedProxies(proxy))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a range such as 10.0.0.0/8")
                .hasMessageEndingWith("but is " + proxy);
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource({
        "127.0.0.1/32, true",
        "127.0.0.0/31, true",
        "127.0.0.2/31, false",
        "126.0.0.0/7, true",
        "0.0.0.0/0, true",
        "::/0, false"
    })
    void range_containsAddressesWithItsPrefix(String range, boolean contained) {
        trust(range);
        assertThat(seen("X-Forwarded-For: 1.2.3.4").startsWith("1.2.3.4 ")).isEqualTo(contained);
    }
}
