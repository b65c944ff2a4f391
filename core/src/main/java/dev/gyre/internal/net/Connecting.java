package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketNames;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Objects;

/// Makes streams to elsewhere.
public final class Connecting {
    private Connecting() {}

    public static Promise<Stream> connect(EventLoop loop, SocketAddress to, StreamConfig config) {
        Objects.requireNonNull(to, "to");
        Objects.requireNonNull(config, "config");
        Streams streams = Streams.on(loop, "Stream.connect");
        Promise<Stream> connected =
                Connector.connect(
                                loop,
                                to,
                                SocketSettings.of(config.socket()),
                                config.connectTimeout(),
                                config.resolver())
                        .then(socket -> stream(streams, (OpenDescriptor) socket, to, config));
        Tls tls = config.tls();
        return tls == null
                ? connected
                : connected.thenCompose(stream -> stream.secure(tls).then(_ -> stream));
    }

    private static Stream stream(
            Streams streams, OpenDescriptor socket, SocketAddress to, StreamConfig config) {
        try {
            // Of a name's addresses any may have answered.
            boolean isName = to instanceof InetSocketAddress internet && internet.isUnresolved();
            SocketAddress peer =
                    isName ? SocketNames.peer(streams.operations().seam(), socket) : to;
            Connection connection = Connection.connected(streams, socket, peer, config);
            connection.calledAs(to);
            return connection.face();
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }
}
