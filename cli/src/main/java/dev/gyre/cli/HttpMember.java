package dev.gyre.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

/// Asks for the same little text time and again. It has its one connection for itself, which a client with a pool
/// would replace without a word when it is dropped.
///
/// Loop thread only.
final class HttpMember extends Member {
    static final String TARGET = "/plaintext";

    private static final String CONTENT = "Hello, World!";
    private static final String LENGTH = "\r\nContent-Length: " + CONTENT.length() + "\r\n";
    private static final byte[] REQUEST =
            ("GET " + TARGET + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(ISO_8859_1);

    HttpMember(Crowd crowd) {
        super(crowd);
    }

    @Override
    void writeTo(Stream to) {
        boolean _ = to.write(REQUEST);
    }

    @Override
    int answerBytes(Buffer data) {
        for (int i = 3; i < data.readable(); i++) {
            boolean ends =
                    data.peek(i) == '\n'
                            && data.peek(i - 1) == '\r'
                            && data.peek(i - 2) == '\n'
                            && data.peek(i - 3) == '\r';
            if (ends) {
                return i + 1 + CONTENT.length();
            }
        }
        return Integer.MAX_VALUE;
    }

    @Override
    boolean isRight(Buffer data) {
        int expected = answerBytes(data);
        String answer = data.getText(ISO_8859_1);
        return answer.length() == expected
                && answer.startsWith("HTTP/1.1 200 ")
                && answer.contains(LENGTH)
                && answer.endsWith("\r\n\r\n" + CONTENT);
    }
}
