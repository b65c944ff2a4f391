package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.ServerHandshake;
import dev.gyre.http.internal.websocket.WebSocketProtocol;

import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Upgrades a connection to a WebSocket.
final class WebSocketUpgrade implements Handler {
    /// Drops the request. No lambda: linking one would delay a server's first response.
    record WithoutRequest(Consumer<? super WebSocket> opened)
            implements BiConsumer<Request, WebSocket> {
        WithoutRequest {
            Objects.requireNonNull(opened, "opened");
        }

        @Override
        public void accept(Request request, WebSocket socket) {
            opened.accept(socket);
        }
    }

    private final LoopServer server;
    private final WebSocketConfig config;
    private final BiConsumer<? super Request, ? super WebSocket> opened;

    WebSocketUpgrade(
            LoopServer server,
            WebSocketConfig config,
            BiConsumer<? super Request, ? super WebSocket> opened) {
        this.server = server;
        this.config = Objects.requireNonNull(config, "config");
        this.opened = Objects.requireNonNull(opened, "opened");
    }

    @Override
    public Promise<?> handle(Request request, Response response) {
        Exchange exchange = ((ServerRequest) request).exchange();
        if (exchange.body() != null) {
            return reject(response, 400, "a WebSocket request must not have a body");
        }
        return switch (ServerHandshake.decide(
                request.method(),
                request.isHttp10(),
                request.scheme().equals("https"),
                request.host(),
                request.headers(),
                config)) {
            case ServerHandshake.Rejected rejected -> {
                rejected.headers().forEach(response::header);
                yield reject(response, rejected.status(), rejected.reason());
            }
            case ServerHandshake.Accepted accepted -> accept(request, response, accepted);
        };
    }

    /// Rejects the upgrade and closes the connection. A proxy could treat the connection as
    /// upgraded, and forward later requests unchecked.
    private static Promise<?> reject(Response response, int status, String reason) {
        return response.addHeader("Connection", "close").status(status).text(reason + "\n");
    }

    private Promise<?> accept(
            Request request, Response response, ServerHandshake.Accepted accepted) {
        Exchange exchange = ((ServerRequest) request).exchange();
        response.header("Sec-WebSocket-Accept", accepted.accept());
        String protocol = accepted.protocol();
        if (protocol != null) {
            response.header("Sec-WebSocket-Protocol", protocol);
        }
        String extensions = accepted.extensions();
        if (extensions != null) {
            response.header("Sec-WebSocket-Extensions", extensions);
        }
        HttpConnection connection = exchange.response.beginUpgrade("websocket");
        WebSocketProtocol socket =
                new WebSocketProtocol(
                        connection.stream(), config, true, extensions, protocol, request.target());
        connection.upgrade(
                exchange,
                stream -> {
                    server.add(socket.socket(), connection);
                    socket.begin(stream, made -> opened.accept(request, made));
                });
        return exchange.context.done;
    }
}
