package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.io.Buffer;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Upgrades, and then sends whatever it was given.
final class BadServer implements Protocol {
    private static final Pattern KEY = Pattern.compile("Sec-WebSocket-Key: (\\S+)");

    private final String headers;
    private final byte[] sent;

    /// @param headers more of them, each with its CRLF
    BadServer(String headers, byte[] sent) {
        this.headers = headers;
        this.sent = sent;
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        Matcher key = KEY.matcher(data.getText(ISO_8859_1));
        if (key.find()) {
            stream.write(
                    "HTTP/1.1 101 Switching Protocols\r\n"
                            + "Upgrade: websocket\r\n"
                            + "Connection: Upgrade\r\n"
                            + "Sec-WebSocket-Accept: "
                            + ServerHandshake.acceptFor(key.group(1))
                            + "\r\n"
                            + headers
                            + "\r\n");
            stream.write(sent);
        }
    }
}
