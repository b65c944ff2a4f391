package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class CookieJarTest {
    private static final long SECOND = 1_000_000_000L;

    private final CookieJar jar = new CookieJar();

    private void store(String path, String... setCookies) {
        jar.store(List.of(setCookies), path, 0);
    }

    private Map<String, String> sent(String path) {
        return jar.matching(path, false, 0);
    }

    @Test
    void matching_sendsCookiesOfThePathAndAbove() {
        store("/shop/cart", "a=1", "b=2; Path=/", "c=3; Path=/shop/cart/items", "d=4; Path=bad");
        assertThat(sent("/")).isEqualTo(Map.of("b", "2"));
        assertThat(sent("/shop")).isEqualTo(Map.of("a", "1", "b", "2", "d", "4"));
        assertThat(sent("/shopping")).isEqualTo(Map.of("b", "2"));
        assertThat(sent("/shop/cart/items/7").keySet()).containsExactly("c", "a", "d", "b");
    }

    @Test
    void store_theSameNameAndPath_replaces() {
        store("/", "a=1");
        store("/", "a=2");
        assertThat(sent("/")).isEqualTo(Map.of("a", "2"));
        store("/", "a=; Max-Age=0");
        assertThat(sent("/")).isEmpty();
        store("/", "a=3", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        assertThat(sent("/")).isEmpty();
    }

    @Test
    void store_maxAge_winsOverExpires() {
        store("/", "a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        assertThat(jar.get("a", 10 * SECOND - 1)).isEqualTo("1");
        assertThat(jar.get("a", 10 * SECOND)).isNull();
        store("/", "b=1; Max-Age=junk; Expires=never");
        assertThat(jar.get("b", Long.MAX_VALUE / 2)).isEqualTo("1");
    }

    @Test
    void matching_secureCookies_areSentOverTlsOnly() {
        store("/", "a=1; Secure");
        assertThat(sent("/")).isEmpty();
        assertThat(jar.matching("/", true, 0)).isEqualTo(Map.of("a", "1"));
    }

    @Test
    void store_malformedCookies_ignoresThem() {
        store("/", "junk", "=1", "");
        assertThat(sent("/")).isEmpty();
        store("/", "a=b=c; ;;X=");
        assertThat(sent("/")).isEqualTo(Map.of("a", "b=c"));
    }
}
