package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.HttpException;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import java.net.URLEncoder;

class PercentEncodingPropertyTest {
    @Property(tries = 2_000)
    void decode_ofWhatTheJdkEncoded_isWhatItWas(@ForAll String text) {
        String encoded = URLEncoder.encode(text, UTF_8);
        // Halves of pairs have no encoding: the JDK puts a question mark.
        String whole = new String(text.getBytes(UTF_8), UTF_8);
        assertThat(PercentEncoding.decode(encoded, true)).isEqualTo(whole);
    }

    @Property(tries = 2_000)
    void decode_ofEveryByteEncoded_isTheText(@ForAll String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte octet : text.getBytes(UTF_8)) {
            encoded.append("%%%02x".formatted(octet));
        }
        assertThat(PercentEncoding.decode(encoded.toString(), false))
                .isEqualTo(new String(text.getBytes(UTF_8), UTF_8));
    }

    @Property(tries = 2_000)
    void address_ofAnything_isOne_readsAsItWas_andIsNotEncodedAgain(@ForAll String text) {
        String whole = new String(text.getBytes(UTF_8), UTF_8).replaceAll("\\p{Cntrl}", "");
        String address = PercentEncoding.address(whole);
        assertThat(address).matches("[!#$%&'()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~]*");
        if (whole.indexOf('%') < 0) {
            assertThat(PercentEncoding.decode(address, false)).isEqualTo(whole);
        }
        assertThat(PercentEncoding.address(address)).isEqualTo(address);
    }

    @Example
    void decode_ofPlusSigns_isASpaceInForms() {
        assertThat(PercentEncoding.decode("a+b%2B", true)).isEqualTo("a b+");
        assertThat(PercentEncoding.decode("a+b%2b", false)).isEqualTo("a+b+");
    }

    @Example
    void decode_ofWhatIsNotEncodedAsItShould_isNull() {
        for (String wrong :
                new String[] {
                    "%",
                    "%4",
                    "a%4",
                    "%4g",
                    "%g4",
                    "%%41",
                    "%\uff11\uff11",
                    "%c0%af",
                    "%ff",
                    "%c3",
                    "%ed%a0%80",
                    "\u00e9",
                    "\u0141"
                }) {
            assertThat(PercentEncoding.decode(wrong, false)).as(wrong).isNull();
            assertThatThrownBy(() -> PercentEncoding.require(wrong, true))
                    .as(wrong)
                    .isInstanceOfSatisfying(
                            HttpException.class, e -> assertThat(e.status()).isEqualTo(400));
        }
    }

    @Example
    void decode_ofBytesThatAreUtf8AsTheyAre_isTheText() {
        assertThat(PercentEncoding.decode("\u00c3\u00a9%21", false)).isEqualTo("\u00e9!");
    }

    @Example
    void decode_ofAnEscapeAtTheEnd_isItsCharacter() {
        assertThat(PercentEncoding.decode("%41", false)).isEqualTo("A");
        assertThat(PercentEncoding.decode("a%41", false)).isEqualTo("aA");
        assertThat(PercentEncoding.decode("a%41b", true)).isEqualTo("aAb");
    }

    @Example
    void address_withAPercentSignAtTheEnd_isEncodedUnlessItIsAnEscape() {
        assertThat(PercentEncoding.address("/a%41")).isEqualTo("/a%41");
        assertThat(PercentEncoding.address("%41")).isEqualTo("%41");
        assertThat(PercentEncoding.address("/a%4")).isEqualTo("/a%254");
        assertThat(PercentEncoding.address("/a%")).isEqualTo("/a%25");
        assertThat(PercentEncoding.address("/a%4g")).isEqualTo("/a%254g");
        assertThat(PercentEncoding.address("/a%g4")).isEqualTo("/a%25g4");
    }
}
