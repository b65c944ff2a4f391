package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.tls.TlsSetup;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Objects;

/// Makes streams to elsewhere.
public final class StreamConnector {
    private StreamConnector() {}

    public static Promise<Stream> connect(EventLoop loop, SocketAddress to, StreamConfig config) {
        Objects.requireNonNull(to, "to");
        Objects.requireNonNull(config, "config");
        Tls tls = config.tls();
        if (tls != null) {
            TlsSetup.of(tls)
                    .requireClientOf(
                            to instanceof InetSocketAddress internet
                                    ? internet.getHostString()
                                    : null);
        }
        Streams streams = Streams.on(loop, "Stream.connect");
        Promise<Stream> connected =
                SocketConnector.connect(
                                loop,
                                to,
                                SocketSettings.of(config.socket()),
                                config.connectTimeout(),
                                config.resolver())
                        .then(socket -> stream(streams, (OpenDescriptor) socket, to, config));
        return tls == null ? connected : connected.thenCompose(stream -> secured(stream, tls));
    }

    private static Promise<Stream> secured(Stream stream, Tls tls) {
        try {
            return stream.secure(tls).then(_ -> stream);
        } catch (Throwable e) {
            stream.abort(); // Nobody else knows it yet.
            throw e;
        }
    }

    private static Stream stream(
            Streams streams, OpenDescriptor socket, SocketAddress to, StreamConfig config) {
        try {
            // Of a name's addresses any may have answered.
            boolean isName = to instanceof InetSocketAddress internet && internet.isUnresolved();
            SocketAddress peer =
                    isName ? NativeSockets.peerAddress(streams.operations().seam(), socket) : to;
            Connection connection = Connection.connected(streams, socket, peer, config);
            connection.calledAs(to);
            return connection.face();
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }
}
