package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class RequestHeadTest {
    private static final String REQUEST =
            String.join(
                    "\r\n",
                    "GET /users/7?full=yes HTTP/1.1",
                    "Host: example.org",
                    "Accept: text/html",
                    "X-List: a, B ,c",
                    "x-list: d",
                    "",
                    "");

    private final RequestHead head = new RequestHead(100, 1000, 10);

    @Clause("H-1")
    @Test
    void parse_ofACompleteHead_takesNothingAndSaysWhereThingsAre() {
        Buffer data = buffer(REQUEST + "behind");

        assertThat(head.parse(data)).isEqualTo(REQUEST.length());
        assertThat(data.readable()).isEqualTo(REQUEST.length() + "behind".length());
        assertThat(head.length()).isEqualTo(REQUEST.length());
        assertThat(head.targetAt()).isEqualTo(REQUEST.indexOf('/'));
        assertThat(head.pathEnd()).isEqualTo(REQUEST.indexOf('?'));
        assertThat(head.targetEnd()).isEqualTo(REQUEST.indexOf(" HTTP"));
        assertThat(head.byteAt(head.targetAt() + 1)).isEqualTo((byte) 'u');
        assertThat(head.isPathLeftOut()).isFalse();
    }

    @Clause("H-1")
    @Test
    void method_ofARegisteredOne_isOneAndTheSame() {
        for (String method :
                List.of("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH")) {
            head.parse(buffer(method + " / HTTP/1.1\r\nHost: a\r\n\r\n"));
            String first = head.method();
            head.parse(buffer(method + " /b HTTP/1.1\r\nHost: a\r\n\r\n"));

            assertThat(head.method()).isEqualTo(method).isSameAs(first);
            assertThat(head.isMethodKnown()).isTrue();
        }
    }

    @Clause("H-1")
    @Test
    void fields_areFoundWhateverTheCase() {
        head.parse(buffer(REQUEST));

        check(head);
        check(head.copy());
    }

    private static void check(Headers headers) {
        assertThat(headers.get("HOST")).isEqualTo("example.org");
        assertThat(headers.get("Hos")).isNull();
        assertThat(headers.get("")).isNull();
        assertThat(headers.getAll("X-list")).containsExactly("a, B ,c", "d");
        assertThat(headers.getAll("nothing")).isEmpty();
        assertThat(headers.contains("accept")).isTrue();
        assertThat(headers.contains("accepts")).isFalse();
        assertThat(headers.containsToken("X-List", "b")).isTrue();
        assertThat(headers.containsToken("X-List", "D")).isTrue();
        assertThat(headers.containsToken("X-List", "a, B")).isFalse();
        assertThat(headers.containsToken("X-List", "e")).isFalse();
        assertThat(headers.size()).isEqualTo(4);
        List<String> names = new ArrayList<>();
        headers.forEach((name, value) -> names.add(name));
        assertThat(names).containsExactly("Host", "Accept", "X-List", "x-list");
    }

    @Clause("H-1")
    @Test
    void head_afterItsBufferMovedOn_isStillThere() {
        Buffer data = buffer(REQUEST);
        head.parse(data);

        data.skip(REQUEST.length()).clear();
        data.put("something else that is longer than the request was before".repeat(3));

        assertThat(head.target()).isEqualTo("/users/7?full=yes");
        check(head);
    }

    @Clause("H-1")
    @Test
    void keep_untilRelease_refusesToParse() {
        head.parse(buffer(REQUEST));
        head.keep();
        head.keep();

        assertThat(head.isKept()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> head.parse(buffer(REQUEST)))
                .withMessageContaining("release()");
        check(head);

        head.release();
        head.release();

        assertThat(head.isKept()).isFalse();
        assertThat(head.size()).isZero();
        assertThat(head.length()).isZero();
        assertThatIllegalStateException().isThrownBy(head::target);
        assertThat(head.parse(buffer(REQUEST))).isEqualTo(REQUEST.length());
    }

    @Clause("H-1")
    @Test
    void keep_withoutAHead_isMisuse() {
        assertThat(head.parse(buffer("GET / HT"))).isZero();

        assertThatIllegalStateException().isThrownBy(() -> head.keep());
    }

    @Clause("H-1")
    @Test
    void refusal_isThereOnlyIfRefused() {
        assertThat(head.parse(buffer("GET / HTTP/3.0\r\n"))).isEqualTo(-1);
        assertThat(head.error()).isEqualTo(ParseError.OTHER_VERSION);
        assertThat(head.error().status()).isEqualTo(505);

        assertThat(head.parse(buffer(REQUEST))).isPositive();
        assertThatIllegalStateException().isThrownBy(head::error);
    }

    @Clause("H-1")
    @Test
    void head_refusedOrIncomplete_leavesNothingOfTheOneBefore() {
        for (String next : List.of("GET / HTTP/1.1\r\nHost: b", "GET / HTTP/1.1\r\nHost : b\r\n")) {
            head.parse(buffer("POST http://a HTTP/1.0\r\nContent-Length: 5\r\n\r\n"));
            assertThat(head.isPathLeftOut()).isTrue();

            head.parse(buffer(next));

            assertThat(head.size()).isZero();
            assertThat(head.hasBody()).isFalse();
            assertThat(head.isHttp10()).isFalse();
            assertThat(head.isMethodKnown()).isFalse();
            assertThat(head.isPathLeftOut()).isFalse();
            assertThat(head.get("Content-Length")).isNull();
        }
    }

    @Clause("H-1")
    @Test
    void refusals_haveAnErrorStatusAndOneLine() {
        for (ParseError refusal : ParseError.values()) {
            assertThat(refusal.status()).as("%s", refusal).isBetween(400, 505);
            assertThat(refusal.reason()).as("%s", refusal).hasSizeBetween(20, 100);
            assertThat(ParseError.of(refusal.code())).isEqualTo(refusal);
        }
    }

    private static Buffer buffer(String text) {
        return Buffer.allocate(1000).put(text);
    }

    @Clause("H-1")
    @Test
    void everyField_isFoundByEveryAccessor_alsoTheFirst_andBeyondSixteen() {
        int count = 40;
        StringBuilder text = new StringBuilder("GET / HTTP/1.1\r\n");
        for (int i = 0; i < count; i++) {
            text.append("X-").append(i).append(": a, t").append(i).append("\r\n");
        }
        text.append("Host: a\r\nx-0: last\r\n\r\n");
        RequestHead head = new RequestHead(100, 4096, 100);
        byte[] bytes = text.toString().getBytes(ISO_8859_1);
        assertThat(head.parse(Buffer.allocate(bytes.length).put(bytes))).isEqualTo(bytes.length);
        for (Headers headers : List.of(head, head.copy())) {
            assertThat(headers.size()).isEqualTo(count + 2);
            for (int i = 0; i < count; i++) {
                String name = "x-" + i;
                assertThat(headers.get(name)).isEqualTo("a, t" + i);
                assertThat(headers.contains(name)).isTrue();
                assertThat(headers.containsToken(name, "T" + i)).isTrue();
                assertThat(headers.containsToken(name, "b")).isFalse();
                assertThat(headers.getAll(name)).first().isEqualTo("a, t" + i);
                assertThat(headers.getAll(name)).hasSize(i == 0 ? 2 : 1);
            }
            assertThat(headers.getAll("X-0")).containsExactly("a, t0", "last");
            assertThat(headers.containsToken("X-0", "last")).isTrue();
            assertThat(headers.contains("X-" + count)).isFalse();
            assertThat(headers.get("X-" + count)).isNull();
            List<String> names = new ArrayList<>();
            headers.forEach((name, value) -> names.add(name + "=" + value));
            assertThat(names).hasSize(count + 2).startsWith("X-0=a, t0").endsWith("x-0=last");
        }
        assertThat(head.copy().toString()).startsWith("X-0: a, t0\n").endsWith("x-0: last\n");
    }
}
