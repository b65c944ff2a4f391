package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;

/// The JDK's client, which others wrote, against our server.
@Timeout(60)
class ForeignClientTest {
    /// Notes what arrives, in words.
    private static final class Notes implements WebSocket.Listener {
        final BlockingQueue<String> events = new LinkedBlockingQueue<>();
        private final StringBuilder text = new StringBuilder();
        private int bytes;

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                events.add(
                        "text "
                                + text.length()
                                + " "
                                + text.substring(0, Math.min(10, text.length())));
                text.setLength(0);
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            bytes += data.remaining();
            if (last) {
                events.add("binary " + bytes);
                bytes = 0;
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onPong(WebSocket socket, ByteBuffer content) {
            events.add("pong " + content.remaining());
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            events.add("closed " + code + " " + reason);
            return null;
        }
    }

    @Clause("K-1")
    @Test
    void client_ofTheJdk_isServed() throws Exception {
        try (EventLoop loop = EventLoop.open();
                HttpClient http = HttpClient.newHttpClient()) {
            Listener listener =
                    UpgradeServer.listen(
                            loop,
                            ListenerConfig.DEFAULT,
                            WebSocketConfig.DEFAULT.withProtocols("echo"),
                            socket -> socket.onText(socket::send).onBinary(socket::send));
            int port = ((InetSocketAddress) listener.address()).getPort();
            Thread running = Thread.ofPlatform().start(loop::run);
            Notes notes = new Notes();
            WebSocket client =
                    http.newWebSocketBuilder()
                            .subprotocols("echo")
                            .buildAsync(URI.create("ws://127.0.0.1:" + port + "/"), notes)
                            .join();
            assertThat(client.getSubprotocol()).isEqualTo("echo");
            client.sendText("grüße", true).join();
            assertThat(notes.events.take()).isEqualTo("text 5 grüße");
            client.sendText("frag", false).join();
            client.sendPing(ByteBuffer.wrap(new byte[7])).join();
            client.sendText("ments", true).join();
            assertThat(notes.events.take()).isEqualTo("pong 7");
            assertThat(notes.events.take()).isEqualTo("text 9 fragments");
            client.sendBinary(ByteBuffer.allocate(300_000), true).join();
            assertThat(notes.events.take()).isEqualTo("binary 300000");
            client.sendClose(4000, "enough").join();
            assertThat(notes.events.take()).isEqualTo("closed 4000 ");
            loop.stop();
            running.join();
        }
    }
}
