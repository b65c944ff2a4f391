package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.Buffer;
import dev.gyre.io.ListenerConfig;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;

/// Messages of up to [WebSocketConfig#maxMessage()], however large that is.
abstract class LargeMessagesContract extends HttpFixture {
    private static final int LENGTH = 16 << 20;
    private static final WebSocketConfig CONFIG =
            WebSocketConfig.DEFAULT.withMaxMessage(LENGTH).withCompression(false);

    private final List<String> events = new ArrayList<>();

    LargeMessagesContract() {
        loop.close();
        loop = open(LoopConfig.DEFAULT.withBufferMemory(64 << 20));
        configure(HttpConfig.DEFAULT);
    }

    private WebSocket echoed(WebSocketConfig config) {
        server.webSocket(
                "/echo",
                config,
                socket ->
                        socket.onText(socket::send)
                                .onBinary(socket::send)
                                .onClose((code, why) -> events.add("server " + code + " " + why)));
        server.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenerConfig.DEFAULT);
        int port = ((InetSocketAddress) server.address()).getPort();
        URI uri = URI.create("ws://127.0.0.1:" + port + "/echo");
        WebSocket client = outcome(WebSocket.connect(loop, uri, config));
        return client.onText(text -> events.add("text " + sum(text.getBytes(UTF_8))))
                .onBinary(data -> events.add("binary " + sum(data.getBytes())))
                .onClose((code, why) -> events.add("client " + code + " " + why));
    }

    private static String sum(byte[] bytes) {
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return bytes.length + " " + sum.getValue();
    }

    private static byte[] noise() {
        byte[] noise = new byte[LENGTH];
        new Random(3).nextBytes(noise);
        return noise;
    }

    private void requireEchoes(int count) {
        runUntil(() -> "echoed, so far: " + events, () -> events.size() >= count);
    }

    @Test
    @Clause("K-1")
    void echo_of16MiB_withThatMaxMessage_arrives() {
        WebSocket client = echoed(CONFIG);
        byte[] noise = noise();
        String text = "x".repeat(LENGTH);
        client.send(noise);
        requireEchoes(1);
        client.send(Buffer.allocate(LENGTH).put(noise));
        requireEchoes(2);
        client.send(text);
        requireEchoes(3);
        client.send(WebSocketMessage.binary(noise));
        requireEchoes(4);
        assertThat(events)
                .containsExactly(
                        "binary " + sum(noise),
                        "binary " + sum(noise),
                        "text " + sum(text.getBytes(UTF_8)),
                        "binary " + sum(noise));
        assertThat(HeapBudget.of(loop).usedBytes()).isZero();
    }

    @Test
    @Clause("K-1")
    void echo_ofALargeMessageThatDoesNotCompress_arrives() {
        WebSocket client = echoed(CONFIG.withCompression(true));
        byte[] noise = Arrays.copyOf(noise(), 3 << 20);
        client.send(noise);
        requireEchoes(1);
        assertThat(events).containsExactly("binary " + sum(noise));
    }

    @Test
    @Clause("K-1")
    void close_afterALargeMessage_followsIt() {
        WebSocket client = echoed(CONFIG);
        byte[] noise = noise();
        client.send(noise);
        client.close(1001, "done");
        runUntil(() -> "closed, so far: " + events, () -> events.size() == 2);
        assertThat(events).containsExactlyInAnyOrder("server 1001 done", "client 1001 ");
        assertThat(HeapBudget.of(loop).usedBytes()).isZero();
    }
}
