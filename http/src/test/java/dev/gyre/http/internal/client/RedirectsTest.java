package dev.gyre.http.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.RequestHeadBuilder;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.ProtocolException;
import java.net.URI;

class RedirectsTest {
    private final Redirects redirects = new Redirects();

    @BeforeEach
    void follow() {
        redirects.setMax(5);
    }

    private static RequestHeadBuilder request(String method, String uri) {
        return new RequestHeadBuilder(method, URI.create(uri));
    }

    private Redirects.Next next(RequestHeadBuilder sent, int status, String location)
            throws ProtocolException {
        return redirects.next(sent, status, Headers.of("Location", location), true);
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource({
        "301, GET, GET, false",
        "301, POST, GET, true",
        "302, POST, GET, true",
        "302, PUT, PUT, false",
        "303, POST, GET, true",
        "303, PUT, GET, true",
        "303, HEAD, HEAD, false",
        "307, POST, POST, false",
        "308, DELETE, DELETE, false"
    })
    void next_ofEachStatus_hasTheMethodOfTheRules(
            int status, String method, String expected, boolean dropsBody)
            throws ProtocolException {
        Redirects.Next next = next(request(method, "http://a/x"), status, "/y");
        assertThat(next).isEqualTo(new Redirects.Next(expected, uri("http://a:80/y"), dropsBody));
    }

    private static URI uri(String text) {
        return URI.create(text);
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource({
        "http://b/,              http://b:80/",
        "https://b:8443,         https://b:8443/",
        "//b/c,                  http://b:80/c",
        "/c?d=e#f,               http://a:80/c?d=e",
        "c,                      http://a:80/p/c",
        "../../../c,             http://a:80/c",
        "?n=2,                   http://a:80/p/q?n=2",
        "/a b/%41,               http://a:80/a%20b/%41",
        "/\u00c3\u00a9,          http://a:80/%C3%A9",
        "HTTP://B/,              http://b:80/"
    })
    void next_ofAnyLocation_isResolvedAgainstTheRequest(String location, String expected)
            throws ProtocolException {
        Redirects.Next next = next(request("GET", "http://a/p/q?n=1"), 302, location);
        assertThat(next.uri()).isEqualTo(uri(expected));
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource({"ftp://b/", "http://", "http://u:p@b/", "mailto:me", "http://[::1/", "/%zz%"})
    void next_ofALocationThatIsUnusable_namesIt(String location) throws ProtocolException {
        RequestHeadBuilder sent = request("GET", "http://a/");
        if (location.startsWith("/")) {
            assertThat(next(sent, 302, location).uri()).isEqualTo(uri("http://a:80/%25zz%25"));
            return;
        }
        assertThatThrownBy(() -> next(sent, 302, location))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("redirect 302 has an unusable Location")
                .hasMessageContaining("GET http://a:80/ → " + location);
    }

    @ParameterizedTest
    @Clause("H-7")
    @CsvSource({"200", "201", "300", "304", "305", "404"})
    void next_ofOtherStatuses_isNoRedirect(int status) throws ProtocolException {
        assertThat(next(request("GET", "http://a/"), status, "/b")).isNull();
    }

    @Test
    @Clause("H-7")
    void next_withoutALocation_isNoRedirect() throws ProtocolException {
        assertThat(redirects.next(request("GET", "http://a/"), 302, Headers.of(), true)).isNull();
    }

    @Test
    @Clause("H-7")
    void next_fromHttpsToHttp_isFollowedOnlyIfAllowed() throws ProtocolException {
        RequestHeadBuilder sent = request("GET", "https://a/");
        assertThatThrownBy(() -> next(sent, 302, "http://a/"))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("allowInsecureRedirects()")
                .hasMessageContaining("GET https://a:443/ → GET http://a:80/");
        Redirects lenient = new Redirects();
        lenient.setMax(1);
        lenient.allowInsecure();
        Headers headers = Headers.of("Location", "http://a/");
        assertThat(lenient.next(sent, 302, headers, true).uri()).isEqualTo(uri("http://a:80/"));
    }

    @Test
    @Clause("H-7")
    void next_ofABodyThatCannotBeReplayed_isFollowedOnlyWithoutIt() throws ProtocolException {
        RequestHeadBuilder sent = request("POST", "http://a/");
        Headers headers = Headers.of("Location", "/b");
        assertThatThrownBy(() -> redirects.next(sent, 307, headers, false))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("redirect 307 requires the body again");
        assertThat(redirects.next(sent, 303, headers, false).method()).isEqualTo("GET");
    }

    @Test
    @Clause("H-7")
    void next_inALoop_namesTheChain() throws ProtocolException {
        RequestHeadBuilder sent = request("GET", "http://a/1");
        Redirects.Next second = next(sent, 302, "/2");
        sent.redirect(second.method(), second.uri(), false);
        assertThatThrownBy(() -> next(sent, 302, "/1"))
                .isInstanceOf(ProtocolException.class)
                .hasMessage(
                        "the redirects form a loop: GET http://a:80/1 → GET http://a:80/2 → GET"
                                + " http://a:80/1");
    }

    @Test
    @Clause("H-7")
    void redirect_toAnotherOrigin_dropsWhatBelongsToTheFirst() {
        RequestHeadBuilder head = request("POST", "http://a/");
        for (String name :
                new String[] {"Authorization", "Cookie", "Host", "Content-Type", "X-Kept"}) {
            head.set(name, "v");
        }
        head.redirect("POST", uri("http://a:80/b"), false);
        assertThat(text(head)).contains("Authorization: v", "Cookie: v", "Host: v", "X-Kept: v");
        head.redirect("GET", uri("https://a:443/c"), true);
        assertThat(text(head))
                .startsWith("GET /c HTTP/1.1\r\nHost: a\r\n")
                .contains("X-Kept: v")
                .doesNotContain("Authorization", "Cookie", "Host: v", "Content-Type");
    }

    private static String text(RequestHeadBuilder head) {
        return new String(head.build(""), java.nio.charset.StandardCharsets.UTF_8);
    }
}
