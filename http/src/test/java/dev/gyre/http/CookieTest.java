package dev.gyre.http;

import static dev.gyre.http.Cookie.SameSite.LAX;
import static dev.gyre.http.Cookie.SameSite.NONE;
import static dev.gyre.http.Cookie.SameSite.STRICT;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

class CookieTest extends SimulatedFixture {
    private static byte[] key(int fill) {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) fill);
        return key;
    }

    private String send(String target, String cookieHeaders) {
        return ask("GET " + target + " HTTP/1.1\r\nHost: a\r\n" + cookieHeaders, "");
    }

    @Test
    @Clause("H-7")
    void cookie_withAllAttributes_isOneHeader() {
        assertThat(Cookie.of("a", "b").toHeader()).isEqualTo("a=b; Path=/");
        assertThat(
                        Cookie.of("__Secure-sid", "x-1")
                                .httpOnly()
                                .secure()
                                .sameSite(STRICT)
                                .maxAge(Duration.ofDays(1))
                                .path("/api")
                                .domain("example.com")
                                .partitioned()
                                .toHeader())
                .isEqualTo(
                        "__Secure-sid=x-1; Path=/api; Domain=example.com; Max-Age=86400;"
                                + " SameSite=Strict; Secure; HttpOnly; Partitioned");
        assertThat(Cookie.of("a", "b").maxAge(Duration.ZERO).sameSite(LAX).toHeader())
                .isEqualTo(
                        "a=b; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT;"
                                + " SameSite=Lax");
    }

    @Test
    @Clause("H-7")
    void cookie_thatIsChanged_isACopy() {
        Cookie plain = Cookie.of("a", "b");
        Cookie changed = plain.httpOnly();
        assertThat(plain.toHeader()).doesNotContain("HttpOnly");
        assertThat(changed.toHeader()).contains("HttpOnly");
        assertThat(changed.toString()).isEqualTo("Cookie[a]");
    }

    @Test
    @Clause("H-7")
    void cookie_withAnInvalidNameOrValue_throws() {
        for (String name : List.of("", "a b", "a=b", "a;b", "ä", "a\nb", "a\"")) {
            assertThatThrownBy(() -> Cookie.of(name, ""))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("cookie name");
        }
        for (String value : List.of("a b", "a;b", "a,b", "ä", "a\r\nSet-Cookie: x=y", "\"")) {
            assertThatThrownBy(() -> Cookie.of("sid", value))
                    .as(value)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("cookie sid")
                    .hasMessageContaining("encode it");
        }
        assertThatThrownBy(() -> Cookie.of("sid", "x".repeat(4_094)))
                .hasMessageContaining("more than 4096 characters");
        assertThatThrownBy(() -> Cookie.of("a", "").path("relative")).hasMessageContaining("slash");
        assertThatThrownBy(() -> Cookie.of("a", "").path("/a; Secure"))
                .hasMessageContaining("semicolons");
        assertThatThrownBy(() -> Cookie.of("a", "").domain("a\nb")).hasMessageContaining("domain");
        assertThatThrownBy(() -> Cookie.of("a", "").maxAge(Duration.ofSeconds(-1)))
                .hasMessageContaining("zero");
    }

    @Test
    @Clause("H-7")
    void cookie_thatBrowsersIgnore_throwsWithTheRemedy() {
        for (Cookie insecure :
                List.of(
                        Cookie.of("__Host-a", ""),
                        Cookie.of("__secure-a", ""),
                        Cookie.of("a", "").sameSite(NONE),
                        Cookie.of("a", "").partitioned())) {
            assertThatThrownBy(insecure::toHeader).hasMessageContaining("add secure()");
            assertThat(insecure.secure().toHeader()).contains("; Secure");
        }
        assertThatThrownBy(() -> Cookie.of("__Host-a", "").secure().path("/b").toHeader())
                .hasMessageContaining("because of its prefix");
        assertThatThrownBy(() -> Cookie.of("__Host-a", "").secure().domain("b").toHeader())
                .hasMessageContaining("because of its prefix");
    }

    @Test
    @Clause("H-7")
    void response_withCookies_hasAHeaderForEach() {
        server.get(
                "/",
                (_, response) ->
                        response.cookie(Cookie.of("a", "1"))
                                .cookie(Cookie.of("b", "2").httpOnly())
                                .removeCookie("__Host-c")
                                .redirect("/next"));
        assertThat(get("/"))
                .startsWith("HTTP/1.1 302 ")
                .contains("\r\nLocation: /next\r\n")
                .contains("\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/; HttpOnly\r\n")
                .contains(
                        "\r\nSet-Cookie: __Host-c=; Path=/; Max-Age=0;"
                                + " Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure\r\n");
    }

    @Test
    @Clause("H-7")
    void request_withCookies_hasTheirValues() {
        server.get(
                "/",
                (request, response) ->
                        response.text(request.cookie("a") + "|" + request.cookies()));
        Map<String, String> expected =
                Map.of(
                        "", "null|{}",
                        "Cookie: a=1; b=2", "1|{a=1, b=2}",
                        "Cookie: a=1; a=2;a=3", "1|{a=1}",
                        "Cookie: b=2\r\nCookie: a=1", "1|{b=2, a=1}",
                        "Cookie:  ;; =x; y; a = \"q\" ;A=z", "q|{a=q, A=z}",
                        "Cookie: b={\"x\":1,\"a\":2}; a==", "=|{b={\"x\":1,\"a\":2}, a==}",
                        "Cookie: b=\u00ff; a=1", "1|{a=1}");
        expected.forEach(
                (header, values) ->
                        assertThat(contentOf(send("/", header.isEmpty() ? "X: y" : header)))
                                .as(header)
                                .isEqualTo(values));
    }

    @Test
    @Clause("H-7")
    void cookie_thatIsNotUtf8_is400WithItsName() {
        server.get("/", (request, response) -> response.text("" + request.cookie("sid")));
        assertThat(send("/", "Cookie: sid=\u00c3\u00a4"))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("\u00c3\u00a4");
        String response = send("/", "Cookie: sid=\u00ff");
        assertThat(response).startsWith("HTTP/1.1 400 ");
        assertThat(contentOf(response)).isEqualTo("cookie sid: the value is not UTF-8\n");
    }

    @Test
    @Clause("H-7")
    void signedCookie_isVerified_unlessItWasChanged() {
        CookieSigner signer = CookieSigner.of(key(1));
        server.get("/", (request, response) -> response.text("" + signer.verify(request, "user")));
        String signed = signer.sign(Cookie.of("user", "a.b")).value();
        assertThat(signed).startsWith("a.b.").hasSize(4 + 43);
        assertThat(contentOf(send("/", "Cookie: user=" + signed))).isEqualTo("a.b");
        String signature = signed.substring(4);
        String other = CookieSigner.of(key(2)).sign(Cookie.of("user", "a.b")).value();
        String moved = signer.sign(Cookie.of("role", "a.b")).value();
        for (String forged :
                List.of(
                        "a.c." + signature,
                        "a.b",
                        "x",
                        "",
                        "a.b.",
                        "a.b." + signature.substring(1),
                        "a.b.!" + signature.substring(1),
                        "\u00ff." + signature,
                        other,
                        moved)) {
            assertThat(contentOf(send("/", "Cookie: user=" + forged))).as(forged).isEqualTo("null");
        }
        assertThat(contentOf(send("/", "X: y"))).isEqualTo("null");
    }

    @Test
    @Clause("H-7")
    void signedCookie_withAMaxAge_expiresOnTheServerToo() {
        AtomicLong now = new AtomicLong(1_000_000);
        CookieSigner signer =
                CookieSigner.of(key(1)).withClock(() -> Instant.ofEpochSecond(now.get()));
        server.get("/", (request, response) -> response.text("" + signer.verify(request, "user")));
        Cookie cookie = Cookie.of("user", "a.b").maxAge(Duration.ofSeconds(60));
        String signed = signer.sign(cookie).value();
        String endless = signer.sign(Cookie.of("user", "a.b")).value();
        now.addAndGet(59);
        assertThat(contentOf(send("/", "Cookie: user=" + signed))).isEqualTo("a.b");
        now.addAndGet(1);
        assertThat(contentOf(send("/", "Cookie: user=" + signed))).isEqualTo("null");
        String renewed = signer.sign(cookie).value();
        String expiry = renewed.substring(4, 14);
        assertThat(signed.substring(4, 14)).as("no part of the signature").isNotEqualTo(expiry);
        for (String forged :
                List.of(
                        "a.b." + expiry + signed.substring(14),
                        "a.b." + endless.substring(4, 14) + signed.substring(14),
                        "a.b." + signed.substring(14))) {
            assertThat(contentOf(send("/", "Cookie: user=" + forged))).as(forged).isEqualTo("null");
        }
        assertThat(contentOf(send("/", "Cookie: user=" + endless))).isEqualTo("a.b");
        Cookie longest = cookie.maxAge(Duration.ofSeconds(Long.MAX_VALUE));
        String kept = signer.sign(longest).value();
        assertThat(contentOf(send("/", "Cookie: user=" + kept))).isEqualTo("a.b");
    }

    @Test
    @Clause("H-7")
    void signer_withRotatedKeys_verifiesOldCookies_andSignsWithTheFirstKey() {
        CookieSigner old = CookieSigner.of(key(1));
        CookieSigner rotated = CookieSigner.of(key(2), key(1));
        server.get("/", (request, response) -> response.text("" + rotated.verify(request, "user")));
        String before = old.sign(Cookie.of("user", "ada")).value();
        String after = rotated.sign(Cookie.of("user", "ada")).value();
        assertThat(contentOf(send("/", "Cookie: user=" + before))).isEqualTo("ada");
        assertThat(contentOf(send("/", "Cookie: user=" + after))).isEqualTo("ada");
        assertThat(after).isEqualTo(CookieSigner.of(key(2)).sign(Cookie.of("user", "ada")).value());
    }

    @Test
    @Clause("H-7")
    void signer_withoutASafeKey_throws() {
        assertThatThrownBy(CookieSigner::of).hasMessageContaining("at least one key");
        assertThatThrownBy(() -> CookieSigner.of(key(1), new byte[31]))
                .hasMessageContaining("SecureRandom");
    }
}
