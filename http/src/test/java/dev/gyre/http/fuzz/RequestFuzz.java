package dev.gyre.http.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.internal.message.MessageReader;
import dev.gyre.http.internal.message.ParseError;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Buffer;

import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Requests: the same in all pieces; and heads are taken that the grammar takes, as written down a second time, and no others.
public final class RequestFuzz {
    private static final String TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";

    private static final String PATH =
            "(?:[\\-._~!$&'()*+,;=:@/?\\[\\]0-9A-Za-z]++|%[0-9A-Fa-f]{2})";

    private static final Pattern HEAD =
            Pattern.compile(
                    "(?:\r\n)?"
                            + TOKEN
                            + "{1,32} "
                            + PATH
                            + "++ HTTP/1\\.[0-9]\r\n"
                            + "(?:"
                            + TOKEN
                            + "++:[\t\\x20-\\x7e\\x80-\\xff]*+\r\n)*+\r\n");

    /// What contradicts the grammar; the others are about what it means.
    private static final Set<ParseError> GRAMMAR =
            EnumSet.of(
                    ParseError.BARE_CR,
                    ParseError.BARE_LF,
                    ParseError.BAD_METHOD,
                    ParseError.METHOD_TOO_LONG,
                    ParseError.BAD_TARGET,
                    ParseError.BAD_ESCAPE,
                    ParseError.BAD_VERSION,
                    ParseError.OTHER_VERSION,
                    ParseError.SPACE_BEFORE_HEADERS,
                    ParseError.FOLDED_HEADER,
                    ParseError.SPACE_AFTER_NAME,
                    ParseError.EMPTY_NAME,
                    ParseError.BAD_NAME,
                    ParseError.MISSING_COLON,
                    ParseError.CONTROL_BYTE);

    private RequestFuzz() {}

    /// What a fuzzer calls.
    public static void fuzzerTestOneInput(byte[] data) {
        Pieces.compare(data, cuts -> MessageReader.ofRequests(data, cuts));
        compareWithGrammar(data);
    }

    private static void compareWithGrammar(byte[] data) {
        RequestHead head = new RequestHead(1 << 20, 1 << 20, 1 << 20);
        int length = head.parse(Buffer.allocate(data.length + 1).put(data));
        Matcher matcher = HEAD.matcher(new String(data, ISO_8859_1));
        int right = matcher.lookingAt() ? matcher.end() : 0;
        if (length > 0 && length != right) {
            throw new AssertionError("taken are " + length + " bytes, by the grammar " + right);
        }
        if (length == 0 && right > 0) {
            throw new AssertionError("more is asked for, though the head is complete at " + right);
        }
        if (length < 0 && right > 0 && GRAMMAR.contains(head.error())) {
            throw new AssertionError(head.error() + " is said of a head that the grammar takes");
        }
    }
}
