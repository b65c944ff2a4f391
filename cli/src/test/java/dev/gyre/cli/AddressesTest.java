package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;

final class AddressesTest {
    @ParameterizedTest
    @CsvSource({
        "7777,                127.0.0.1:7777",
        "0,                   127.0.0.1:0",
        ":7777,               0.0.0.0:7777",
        "127.0.0.2:80,        127.0.0.2:80",
        "[::1]:7777,          [0:0:0:0:0:0:0:1]:7777",
        "example.org:65535,   example.org:65535",
        "my_host-1.test.:1,   my_host-1.test.:1",
        "unix:/run/a:b.sock,  unix:/run/a:b.sock",
        "unix:here,           unix:here"
    })
    void toListenOn_eachForm_isRead(String text, String shown) {
        assertThat(Addresses.show(Addresses.toListenOn(text))).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource({"7777, 127.0.0.1:7777", ":7777, 127.0.0.1:7777", "a.test:1, a.test:1"})
    void toReach_withoutAHost_isThisMachine(String text, String shown) {
        assertThat(Addresses.show(Addresses.toReach(text))).isEqualTo(shown);
    }

    @Test
    void name_isLeftAName() {
        assertThat(((InetSocketAddress) Addresses.toReach("localhost:80")).isUnresolved()).isTrue();
    }

    @Test
    void resolved_ofAName_hasAnAddressOrSaysThereIsNone() throws Exception {
        assertThat(Addresses.show(Addresses.resolved(Addresses.toReach("localhost:80"))))
                .isIn("127.0.0.1:80", "[0:0:0:0:0:0:0:1]:80");
        assertThatThrownBy(() -> Addresses.resolved(Addresses.toReach("no-such-host.invalid:80")))
                .isInstanceOf(UnknownHostException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "'',               expected PORT",
        "port,             expected PORT",
        "host,             expected PORT",
        "host:,            expected PORT",
        "-1,               expected PORT",
        "65536,            from 0 to 65535",
        "host:99999999999, from 0 to 65535",
        "::1:7777,         in brackets",
        "[::1:7777,        in brackets",
        "[host]:7777,      [host] is not a host name",
        "[]:7777,          [] is not a host name",
        "1.2.3.4.5:7777,   1.2.3.4.5 is not a host name",
        "300.1.1.1:7777,   300.1.1.1 is not a host name",
        "a b:7777,         a b is not a host name",
        "unix:,            the path is empty"
    })
    void nonsense_isNamedWithTheReason(String text, String why) {
        assertThatThrownBy(() -> Addresses.toListenOn(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "' is not an address: ")
                .hasMessageContaining(why);
    }

    @Test
    void unix_pathThatIsTooLong_isRefusedWithItsLength() {
        assertThat(Addresses.unix("x".repeat(107))).isNotNull();
        assertThatThrownBy(() -> Addresses.unix("x".repeat(108)))
                .hasMessageContaining("at most 107 bytes, this one has 108");
        assertThatThrownBy(() -> Addresses.unix("ä".repeat(54))).hasMessageContaining("has 108");
    }

    @Test
    void toReach_portZero_isNobodys() {
        assertThatThrownBy(() -> Addresses.toReach("host:0")).hasMessageContaining("from 1 to");
    }
}
