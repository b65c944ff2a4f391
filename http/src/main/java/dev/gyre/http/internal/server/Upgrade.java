package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.websocket.Handshake;
import dev.gyre.http.internal.websocket.WebSocketProtocol;

import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Turns a connection into a WebSocket.
final class Upgrade implements Handler {
    /// For who does not look at the request. No lambda: those are slow to make, and a server's first answer would wait.
    private record WithoutRequest(Consumer<? super WebSocket> opened)
            implements BiConsumer<Request, WebSocket> {
        @Override
        public void accept(Request request, WebSocket socket) {
            opened.accept(socket);
        }
    }

    private final LoopServer server;
    private final WebSocketConfig config;
    private final BiConsumer<? super Request, ? super WebSocket> opened;

    Upgrade(
            LoopServer server,
            WebSocketConfig config,
            BiConsumer<? super Request, ? super WebSocket> opened) {
        this.server = server;
        this.config = Objects.requireNonNull(config, "config");
        this.opened = Objects.requireNonNull(opened, "opened");
    }

    Upgrade(LoopServer server, WebSocketConfig config, Consumer<? super WebSocket> opened) {
        this(server, config, new WithoutRequest(Objects.requireNonNull(opened, "opened")));
    }

    @Override
    public Promise<?> handle(Request request, Response response) {
        Exchange exchange = ((ServerRequest) request).exchange();
        if (exchange.body() != null) {
            return refuse(response, 400, "a request for a WebSocket has no content");
        }
        return switch (Handshake.answer(
                request.method(),
                request.isHttp10(),
                request.tls() != null,
                request.headers(),
                config)) {
            case Handshake.Refused refused -> {
                refused.fields().forEach(response::header);
                yield refuse(response, refused.status(), refused.reason());
            }
            case Handshake.Accepted accepted -> accept(request, response, accepted);
        };
    }

    /// The connection ends with the answer: whoever is in between may take it for upgraded, and hand on whatever
    /// follows as if that were no requests.
    private static Promise<?> refuse(Response response, int status, String reason) {
        return response.addHeader("Connection", "close").status(status).text(reason + "\n");
    }

    private Promise<?> accept(Request request, Response response, Handshake.Accepted accepted) {
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
        return exchange.bench.done;
    }
}
