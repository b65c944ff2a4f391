package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// Accepts WebSockets and nothing else: just enough of HTTP for tests of both sides.
final class UpgradeServer implements Protocol {
    private final WebSocketConfig config;
    private final Consumer<? super WebSocket> opened;

    private UpgradeServer(WebSocketConfig config, Consumer<? super WebSocket> opened) {
        this.config = config;
        this.opened = opened;
    }

    static Listener listen(
            EventLoop loop,
            ListenerConfig listening,
            WebSocketConfig config,
            Consumer<? super WebSocket> opened) {
        return Listener.on(
                loop,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                listening,
                stream -> stream.protocol(new UpgradeServer(config, opened)));
    }

    private static String host(TestHeaders headers) {
        return Objects.requireNonNullElse(headers.get("Host"), "");
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        int bytes = headBytes(data);
        if (bytes == 0) {
            return;
        }
        List<String> lines = Arrays.asList(data.getText(bytes, ISO_8859_1).strip().split("\r\n"));
        String[] first = lines.getFirst().split(" ", 3);
        TestHeaders headers = new TestHeaders(lines.subList(1, lines.size()));
        switch (ServerHandshake.decide(first[0], false, false, host(headers), headers, config)) {
            case ServerHandshake.Accepted(String accept, String protocol, String extensions) -> {
                stream.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n");
                stream.write("Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + "\r\n");
                if (protocol != null) {
                    stream.write("Sec-WebSocket-Protocol: " + protocol + "\r\n");
                }
                if (extensions != null) {
                    stream.write("Sec-WebSocket-Extensions: " + extensions + "\r\n");
                }
                stream.write("\r\n");
                new WebSocketProtocol(stream, config, true, extensions, protocol, first[1])
                        .begin(stream, opened);
            }
            case ServerHandshake.Rejected refused -> {
                stream.write(
                        "HTTP/1.1 " + refused.status() + " Refused\r\n\r\n" + refused.reason());
                stream.close();
            }
        }
    }

    /// How long the head is, with the empty line behind it; 0 if that is not there yet.
    private static int headBytes(Buffer data) {
        StringBuilder seen = new StringBuilder();
        for (int i = 0; i < data.readable(); i++) {
            seen.append((char) data.peek(i));
        }
        int end = seen.indexOf("\r\n\r\n");
        return end < 0 ? 0 : end + 4;
    }
}
