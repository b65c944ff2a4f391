package dev.gyre.http.internal.websocket;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.message.ResponseHead;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.Objects;

/// A client's socket on its way: asks for the upgrade and reads the answer; then the [WebSocketProtocol] has the
/// stream.
///
/// Loop thread only.
final class Connecting implements Protocol {
    /// More than any upgrade needs.
    private static final int MOST_BYTES = 16 << 10;

    private static final int MOST_FIELDS = 100;

    /// How many answers of 1xx are passed over; the time for the answer is that of all of them.
    private static final int MOST_INTERIM = 32;

    private final ClientHandshake handshake;
    private final WebSocketConfig config;
    private final Deferred<WebSocket> outcome;
    private final Timer patience;
    private final ResponseHead answer = new ResponseHead(MOST_BYTES, MOST_FIELDS);

    // Loop thread only.
    private int interim;

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
        Tls tls =
                !handshake.isSecure()
                        ? null
                        : own != null ? own : Tls.client().withProtocols("http/1.1");
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
        int bytes = answer.parse(data);
        while (bytes > 0 && isInterim() && interim < MOST_INTERIM) {
            interim++;
            answer.release();
            data.skip(bytes);
            bytes = answer.parse(data);
        }
        if (bytes == 0) {
            return;
        }
        String wrong =
                bytes < 0
                        ? "the peer's answer to the upgrade is refused: "
                                + answer.refusal().reason()
                        : handshake.wrongWith(answer);
        if (wrong == null) {
            data.skip(bytes);
            open(stream);
        } else {
            refuse(stream, wrong);
        }
    }

    private boolean isInterim() {
        return answer.status() < 200 && answer.status() != ClientHandshake.SWITCHING_PROTOCOLS;
    }

    private void open(Stream stream) {
        patience.cancel();
        WebSocketProtocol next =
                new WebSocketProtocol(
                        stream,
                        config,
                        false,
                        answer.get(Handshake.EXTENSIONS_FIELD),
                        answer.get(Handshake.PROTOCOL_FIELD),
                        handshake.target());
        LoopSocket socket = next.loopSocket();
        stream.protocol(next);
        // What came right behind the answer waits until whoever has the promise has set callbacks.
        socket.reading().hold();
        stream.loop().defer(socket.reading()::letGo);
        outcome.resolve(socket);
    }

    private void refuse(Stream stream, String why) {
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
