package dev.gyre.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

/// Requests the same short text repeatedly. It uses one raw connection, because a pooling client
/// would silently replace a dropped one.
///
/// Loop thread only.
final class HttpLoadClient extends LoadClient {
    static final String TARGET = "/plaintext";

    private static final String BODY = "Hello, World!";
    private static final String LENGTH = "\r\nContent-Length: " + BODY.length() + "\r\n";
    private static final byte[] REQUEST =
            ("GET " + TARGET + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(ISO_8859_1);

    HttpLoadClient(LoadClients clients) {
        super(clients);
    }

    @Override
    void writeTo(Stream to) {
        boolean _ = to.write(REQUEST);
    }

    @Override
    int responseBytes(Buffer data) {
        for (int i = 3; i < data.readable(); i++) {
            boolean ends =
                    data.peek(i) == '\n'
                            && data.peek(i - 1) == '\r'
                            && data.peek(i - 2) == '\n'
                            && data.peek(i - 3) == '\r';
            if (ends) {
                return i + 1 + BODY.length();
            }
        }
        return Integer.MAX_VALUE;
    }

    @Override
    boolean isValid(Buffer data) {
        int expected = responseBytes(data);
        String response = data.getText(ISO_8859_1);
        return response.length() == expected
                && response.startsWith("HTTP/1.1 200 ")
                && response.contains(LENGTH)
                && response.endsWith("\r\n\r\n" + BODY);
    }
}
