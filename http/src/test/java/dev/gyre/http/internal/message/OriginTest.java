package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.URI;

class OriginTest {
    @ParameterizedTest
    @CsvSource({
        "http://Example.org/,          example.org,       example.org,   80",
        "http://example.org:80/,       example.org,       example.org,   80",
        "http://example.org:443/,      example.org:443,   example.org,   443",
        "https://example.org/a?b,      example.org,       example.org,   443",
        "HTTPS://example.org:443/,     example.org,       example.org,   443",
        "https://example.org:80/,      example.org:80,    example.org,   80",
        "http://[::1]/,                [::1],             ::1,           80",
        "http://[::1]:8080/,           [::1]:8080,        ::1,           8080",
        "http://[fe80::1%eth0]:81/,    [fe80::1]:81,      fe80::1%eth0,  81",
        "http://127.0.0.1:8080/,       127.0.0.1:8080,    127.0.0.1,     8080",
    })
    void host_isSaidAsTheUriHasIt_withoutThePortThatGoesWithoutSaying(
            String uri, String field, String host, int port) {
        Origin origin = Origin.of(URI.create(uri));
        assertThat(origin.hostHeader()).isEqualTo(field);
        assertThat(origin.address().getHostString()).isEqualTo(host);
        assertThat(origin.address().getPort()).isEqualTo(port);
        assertThat(origin.address().isUnresolved()).isTrue();
    }
}
