package dev.gyre.http.internal.websocket;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.message.Durations;
import dev.gyre.http.internal.message.RequestHeadBuilder;
import dev.gyre.http.internal.message.ResponseHead;
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
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/// Connects a client's socket: requests the upgrade (RFC 6455, section 4.1), and validates the
/// response. Then [WebSocketProtocol] takes the stream over.
///
/// Loop thread only.
final class ClientUpgrade implements Protocol {
    private static final int MAX_HEAD_BYTES = 16 << 10;
    private static final int MAX_HEADERS = 100;

    /// The maximum of skipped 1xx responses. One timeout applies to all.
    private static final int MAX_INTERIM = 32;

    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int NONCE_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final WebSocketConfig config;
    private final RequestHeadBuilder request;
    private final String key;
    private final Deferred<WebSocket> outcome;
    private final ResponseHead response = new ResponseHead(MAX_HEAD_BYTES, MAX_HEADERS);

    // Loop thread only.
    private @Nullable Timer timeout;
    private int interim;

    private ClientUpgrade(EventLoop loop, URI uri, WebSocketConfig config) {
        this.config = config;
        String text = uri.toASCIIString();
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!(scheme.equals("ws") || scheme.equals("wss"))
                || uri.getHost() == null
                || uri.getRawFragment() != null
                || uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException(
                    "a WebSocket URI is ws://host/path or wss://host/path, without user and"
                            + " fragment, not "
                            + uri);
        }
        // From ws to http, and from wss to https.
        request = new RequestHeadBuilder("GET", URI.create("http" + text.substring(2)));
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        key = Base64.getEncoder().encodeToString(nonce);
        outcome = loop.deferred();
        request.set("Upgrade", "websocket");
        request.set("Connection", "Upgrade");
        request.set(ServerHandshake.KEY, key);
        request.set(ServerHandshake.VERSION, ServerHandshake.SUPPORTED_VERSION);
        if (!config.protocols().isEmpty()) {
            request.set(ServerHandshake.PROTOCOL, String.join(", ", config.protocols()));
        }
        if (config.compression()) {
            request.set(ServerHandshake.EXTENSIONS, PermessageDeflate.OFFER);
        }
        config.headers().forEach(each -> request.add(each.getKey(), each.getValue()));
    }

    /// Connects a socket.
    ///
    /// @see WebSocket#connect(EventLoop, URI, WebSocketConfig)
    static Promise<WebSocket> connect(EventLoop loop, URI uri, WebSocketConfig config) {
        Objects.requireNonNull(config, "config");
        ClientUpgrade upgrade = new ClientUpgrade(loop, uri, config);
        Promise<?> _ =
                Stream.connect(loop, upgrade.request.origin().address(), upgrade.streams())
                        .then(stream -> stream.protocol(upgrade))
                        .onRejected(upgrade.outcome::reject);
        return upgrade.outcome.promise();
    }

    private StreamConfig streams() {
        Tls own = config.streams().tls();
        Tls tls = own != null ? own : Tls.client().withProtocols("http/1.1");
        return config.streams().withTls(request.origin().secure() ? tls : null);
    }

    // ------------------------------------------------------------------ request

    @Override
    public void onOpen(Stream stream) {
        // The response may take as long as the connection.
        timeout = stream.loop().after(config.streams().connectTimeout(), _ -> timedOut(stream));
        stream.write(request.build(""));
    }

    // ------------------------------------------------------------------ response

    @Override
    public void onData(Stream stream, Buffer data) {
        int bytes = response.parse(data);
        while (bytes > 0 && isInterim() && interim < MAX_INTERIM) {
            interim++;
            response.release();
            data.skip(bytes);
            bytes = response.parse(data);
        }
        if (bytes == 0) {
            return;
        }
        String problem =
                bytes < 0
                        ? "the response to the upgrade is invalid: " + response.error().reason()
                        : problemIn(response);
        if (problem == null) {
            data.skip(bytes);
            open(stream);
        } else {
            reject(stream, problem);
        }
    }

    private boolean isInterim() {
        return response.status() < 200 && response.status() != SWITCHING_PROTOCOLS;
    }

    /// @return null if the response is the requested upgrade
    private @Nullable String problemIn(ResponseHead response) {
        if (response.status() != SWITCHING_PROTOCOLS || response.isHttp10()) {
            return "the server responded '%s %d %s' instead of the upgrade"
                    .formatted(
                            response.isHttp10() ? "HTTP/1.0" : "HTTP/1.1",
                            response.status(),
                            response.reasonPhrase());
        }
        if (!response.containsToken("upgrade", "websocket")
                || !response.containsToken("connection", "upgrade")) {
            return "the server switched to another protocol than WebSocket";
        }
        if (!response.getAll(ServerHandshake.ACCEPT)
                .equals(List.of(ServerHandshake.acceptFor(key)))) {
            return ServerHandshake.ACCEPT + " does not match the key: not a WebSocket server";
        }
        List<String> extensions = response.getAll(ServerHandshake.EXTENSIONS);
        if (!extensions.isEmpty()
                && (!config.compression()
                        || extensions.size() > 1
                        || !PermessageDeflate.isAgreed(extensions.getFirst()))) {
            return "the server selected extensions that were not offered: " + extensions;
        }
        List<String> protocols = response.getAll(ServerHandshake.PROTOCOL);
        if (protocols.size() > 1 || !config.protocols().containsAll(protocols)) {
            return "the server selected a protocol that was not offered: " + protocols;
        }
        return null;
    }

    private void open(Stream stream) {
        cancelTimeout();
        WebSocketProtocol next =
                new WebSocketProtocol(
                        stream,
                        config,
                        false,
                        response.get(ServerHandshake.EXTENSIONS),
                        response.get(ServerHandshake.PROTOCOL),
                        request.target());
        LoopWebSocket socket = next.socket();
        stream.protocol(next);
        // Input after the response waits until the owner of the promise has set callbacks.
        socket.hold();
        stream.loop().defer(socket::unhold);
        outcome.resolve(socket);
    }

    private void cancelTimeout() {
        if (timeout != null) {
            timeout.cancel();
        }
    }

    private void reject(Stream stream, String problem) {
        cancelTimeout();
        outcome.reject(new ProtocolException(problem));
        stream.abort();
    }

    private void timedOut(Stream stream) {
        outcome.reject(
                new SocketTimeoutException(
                        "no response to the upgrade within "
                                + Durations.format(config.streams().connectTimeout())
                                + ": raise StreamConfig.withConnectTimeout"));
        stream.abort();
    }

    @Override
    public void onEnd(Stream stream) {
        reject(stream, "the server closed the connection before it responded");
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        cancelTimeout();
        outcome.reject(
                new ProtocolException(
                        "the connection was closed before the server responded: " + reason));
    }
}
