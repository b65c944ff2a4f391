package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpException;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.Handshake;
import dev.gyre.http.internal.websocket.WebSocketProtocol;

import java.util.Objects;
import java.util.function.Consumer;

/// Turns a connection into a WebSocket.
final class Upgrade implements Handler {
    private final LoopServer server;
    private final WebSocketConfig config;
    private final Consumer<? super WebSocket> opened;

    Upgrade(LoopServer server, WebSocketConfig config, Consumer<? super WebSocket> opened) {
        this.server = server;
        this.config = Objects.requireNonNull(config, "config");
        this.opened = Objects.requireNonNull(opened, "opened");
    }

    @Override
    public Promise<?> handle(Request request, Response response) {
        Exchange exchange = ((ServerRequest) request).exchange();
        if (exchange.body() != null) {
            throw new HttpException(400, "a request for a WebSocket has no content");
        }
        return switch (Handshake.answer(
                request.method(), request.isHttp10(), request.headers(), config)) {
            case Handshake.Refused refused -> {
                refused.fields().forEach(response::header);
                yield response.status(refused.status()).text(refused.reason() + "\n");
            }
            case Handshake.Accepted accepted -> accept(exchange, accepted);
        };
    }

    private Promise<?> accept(Exchange exchange, Handshake.Accepted accepted) {
        ServerResponse response = exchange.response;
        response.header("Sec-WebSocket-Accept", accepted.accept());
        String protocol = accepted.protocol();
        if (protocol != null) {
            response.header("Sec-WebSocket-Protocol", protocol);
        }
        String extensions = accepted.extensions();
        if (extensions != null) {
            response.header("Sec-WebSocket-Extensions", extensions);
        }
        HttpConnection connection = response.beginUpgrade("websocket");
        WebSocketProtocol socket =
                new WebSocketProtocol(
                        connection.stream(),
                        config,
                        true,
                        extensions,
                        protocol,
                        exchange.request.target());
        connection.upgrade(
                exchange,
                stream -> {
                    server.add(socket.socket(), stream);
                    socket.begin(stream, opened);
                });
        return exchange.bench.done;
    }
}
