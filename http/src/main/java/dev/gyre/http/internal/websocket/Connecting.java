package dev.gyre.http.internal.websocket;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.Objects;

/// A client's socket on its way: asks for the upgrade and reads the answer; then the [WebSocketProtocol] has the
/// stream.
///
/// Loop thread only.
final class Connecting implements Protocol {
    private final ClientHandshake handshake;
    private final WebSocketConfig config;
    private final Deferred<WebSocket> outcome;
    private final Timer patience;

    private Connecting(
            EventLoop loop, Stream stream, ClientHandshake handshake, WebSocketConfig config) {
        this.handshake = handshake;
        this.config = config;
        outcome = loop.deferred();
        // What may take so long to connect may take as long again to answer.
        patience = loop.after(config.streams().connectTimeout(), _ -> tooLate(stream));
    }

    /// Connects.
    ///
    /// @see WebSocket#connect(EventLoop, URI, WebSocketConfig)
    static Promise<WebSocket> to(EventLoop loop, URI uri, WebSocketConfig config) {
        Objects.requireNonNull(config, "config");
        ClientHandshake handshake = new ClientHandshake(uri, config);
        StreamConfig streams = config.streams();
        Tls own = streams.tls();
        Tls tls = !handshake.isSecure() ? null : own != null ? own : Tls.client();
        return Stream.connect(loop, handshake.address(), streams.withTls(tls))
                .thenCompose(
                        stream -> {
                            Connecting asking = new Connecting(loop, stream, handshake, config);
                            stream.protocol(asking);
                            return asking.outcome.promise();
                        });
    }

    @Override
    public void onOpen(Stream stream) {
        stream.write(handshake.request());
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        int bytes = UpgradeAnswer.endOf(data);
        if (bytes < 0) {
            if (data.readable() >= UpgradeAnswer.MOST_BYTES) {
                refuse(stream, "the peer's answer to the upgrade has no end");
            }
            return;
        }
        UpgradeAnswer answer = UpgradeAnswer.take(data, bytes);
        String wrong =
                answer == null
                        ? "the peer's answer to the upgrade is no HTTP/1.1"
                        : handshake.wrongWith(answer);
        if (answer == null || wrong != null) {
            refuse(stream, wrong);
        } else {
            open(stream, answer);
        }
    }

    private void open(Stream stream, UpgradeAnswer answer) {
        patience.cancel();
        WebSocketProtocol next =
                new WebSocketProtocol(
                        stream,
                        config,
                        false,
                        first(answer, Handshake.EXTENSIONS_FIELD),
                        first(answer, Handshake.PROTOCOL_FIELD),
                        handshake.target());
        LoopSocket socket = next.loopSocket();
        stream.protocol(next);
        // What came right behind the answer waits until whoever has the promise has set callbacks.
        socket.reading().hold();
        stream.loop().defer(socket.reading()::letGo);
        outcome.resolve(socket);
    }

    private static @Nullable String first(UpgradeAnswer answer, String field) {
        return answer.all(field).stream().findFirst().orElse(null);
    }

    private void refuse(Stream stream, @Nullable String why) {
        patience.cancel();
        outcome.reject(new ProtocolException(why));
        stream.abort();
    }

    private void tooLate(Stream stream) {
        outcome.reject(
                new SocketTimeoutException(
                        "no answer to the upgrade within " + config.streams().connectTimeout()));
        stream.abort();
    }

    @Override
    public void onEnd(Stream stream) {
        refuse(stream, "the peer ended the connection before it answered");
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        patience.cancel();
        outcome.reject(
                new ProtocolException(
                        "the connection was closed before the peer answered: " + reason));
    }
}
