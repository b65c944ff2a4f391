package dev.gyre.http.internal.websocket;

import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/// A server's socket in a simulated world, and a peer that sends it bytes. The upgrade is taken for done.
public final class ServerSide implements AutoCloseable {
    public static final String COMPRESSED = PermessageDeflate.OFFER;

    private static final int PORT = 80;

    public final SimulatedWorld world;
    public SimulatedPeer peer;

    /// What the socket's users were told, in order, in words.
    public final List<String> events = new ArrayList<>();

    public WebSocket socket;
    public Stream stream;

    private ServerSide(SimulatedWorld world, WebSocketConfig config, Setup setup) {
        this.world = world;
        Listener.on(
                world.loop(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT),
                ListenerConfig.DEFAULT.withStreams(setup.streams),
                accepted -> {
                    stream = accepted;
                    WebSocketProtocol protocol =
                            new WebSocketProtocol(
                                    accepted, config, setup.server, setup.extensions, null, "/");
                    socket = protocol.socket();
                    socket.onClose((code, reason) -> events.add("closed " + code));
                    protocol.begin(accepted, setup.opened);
                });
        connectAgain();
    }

    /// Goes on with another peer, and the socket that it has.
    void connectAgain() {
        peer = world.connect(PORT);
        world.run();
    }

    private record Setup(
            boolean server, StreamConfig streams, String extensions, Consumer<WebSocket> opened) {}

    /// One that sends back what it gets.
    public static ServerSide echo(WebSocketConfig config, boolean compressed) {
        return of(
                config,
                compressed,
                StreamConfig.DEFAULT,
                socket -> socket.onText(socket::send).onBinary(socket::send));
    }

    public static ServerSide of(
            WebSocketConfig config,
            boolean compressed,
            StreamConfig streams,
            Consumer<WebSocket> opened) {
        return new ServerSide(
                SimulatedWorld.seed(1),
                config,
                new Setup(true, streams, compressed ? COMPRESSED : null, opened));
    }

    /// A client's socket instead: one that masks, and goes on reading under pressure.
    public static ServerSide asClient(WebSocketConfig config, Consumer<WebSocket> opened) {
        StreamConfig streams = StreamConfig.DEFAULT.withReadsUnderBackpressure(true);
        return new ServerSide(
                SimulatedWorld.seed(1), config, new Setup(false, streams, null, opened));
    }

    /// How the bytes of a peer are split on their way.
    public enum Split {
        NOT,
        EVERY_BYTE,
        AT_RANDOM
    }

    /// Sends bytes, so that they arrive in pieces.
    public ServerSide send(Split split, byte[] bytes) {
        Random random = new Random(7);
        int at = 0;
        while (at < bytes.length) {
            int left = bytes.length - at;
            int count =
                    switch (split) {
                        case NOT -> left;
                        case EVERY_BYTE -> 1;
                        case AT_RANDOM -> Math.min(left, 1 + random.nextInt(1 + bytes.length / 5));
                    };
            peer.send(Frames.join(Arrays.copyOfRange(bytes, at, at + count)));
            world.run();
            at += count;
        }
        return this;
    }

    public ServerSide send(byte[]... frames) {
        return send(Split.NOT, Frames.join(frames));
    }

    /// What has been answered, in words.
    public List<String> answers() {
        return Frames.describe(peer.received());
    }

    @Override
    public void close() {
        world.close();
    }
}
