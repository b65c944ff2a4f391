package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.message.FieldList;
import dev.gyre.http.internal.message.ResponseHead;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/// The client's side of the upgrade: RFC 6455, section 4.1. Where to connect to, what to ask, and whether the answer
/// is one.
final class ClientHandshake {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int NONCE_BYTES = 16;
    static final int SWITCHING_PROTOCOLS = 101;

    private final WebSocketConfig config;
    private final boolean secure;
    private final String host;
    private final int port;
    private final String target;
    private final String key;

    /// @throws IllegalArgumentException if the URI is none of a WebSocket
    ClientHandshake(URI uri, WebSocketConfig config) {
        this.config = config;
        URI plain = URI.create(uri.toASCIIString());
        String scheme = plain.getScheme() == null ? "" : plain.getScheme().toLowerCase(Locale.ROOT);
        secure = scheme.equals("wss");
        String named = plain.getHost();
        if ((!secure && !scheme.equals("ws"))
                || named == null
                || plain.getRawFragment() != null
                || plain.getRawUserInfo() != null) {
            throw new IllegalArgumentException(
                    "ws://host/path or wss://host/path, without user and fragment, not " + uri);
        }
        host = named;
        port = plain.getPort() >= 0 ? plain.getPort() : secure ? 443 : 80;
        String path = plain.getRawPath();
        String query = plain.getRawQuery();
        target = (path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        key = Base64.getEncoder().encodeToString(nonce);
    }

    boolean isSecure() {
        return secure;
    }

    InetSocketAddress address() {
        boolean bracketed = host.startsWith("[");
        return InetSocketAddress.createUnresolved(
                bracketed ? host.substring(1, host.length() - 1) : host, port);
    }

    String target() {
        return target;
    }

    byte[] request() {
        StringBuilder head = new StringBuilder(512);
        head.append("GET ").append(target).append(" HTTP/1.1\r\n");
        boolean usual = port == (secure ? 443 : 80);
        field(head, "Host", usual ? host : host + ":" + port);
        field(head, "Upgrade", "websocket");
        field(head, "Connection", "Upgrade");
        field(head, Handshake.KEY_FIELD, key);
        field(head, Handshake.VERSION_FIELD, Handshake.VERSION);
        if (!config.protocols().isEmpty()) {
            field(head, Handshake.PROTOCOL_FIELD, String.join(", ", config.protocols()));
        }
        if (config.compression()) {
            field(head, Handshake.EXTENSIONS_FIELD, PermessageDeflate.OFFER);
        }
        FieldList own = new FieldList();
        config.headers().forEach(each -> own.add(each.getKey(), each.getValue()));
        own.appendTo(head);
        return head.append("\r\n").toString().getBytes(UTF_8);
    }

    private static void field(StringBuilder head, String name, String value) {
        head.append(name).append(": ").append(value).append("\r\n");
    }

    /// Checks an answer.
    ///
    /// @return what is wrong with it; null if it is the upgrade that was asked for
    @Nullable String wrongWith(ResponseHead answer) {
        if (answer.status() != SWITCHING_PROTOCOLS || answer.isHttp10()) {
            return "the peer answered '%s %d %s' instead of the upgrade"
                    .formatted(
                            answer.isHttp10() ? "HTTP/1.0" : "HTTP/1.1",
                            answer.status(),
                            answer.reasonPhrase());
        }
        if (!answer.lists("upgrade", "websocket") || !answer.lists("connection", "upgrade")) {
            return "the peer switched to something else than WebSocket";
        }
        if (!answer.all(Handshake.ACCEPT_FIELD).equals(List.of(Handshake.acceptFor(key)))) {
            return Handshake.ACCEPT_FIELD + " does not answer the key: no WebSocket server";
        }
        List<String> extensions = answer.all(Handshake.EXTENSIONS_FIELD);
        if (!extensions.isEmpty()
                && (!config.compression()
                        || extensions.size() > 1
                        || !PermessageDeflate.isAgreed(extensions.getFirst()))) {
            return "the peer wants extensions that were not offered: " + extensions;
        }
        List<String> protocols = answer.all(Handshake.PROTOCOL_FIELD);
        if (protocols.size() > 1 || !config.protocols().containsAll(protocols)) {
            return "the peer wants to speak what was not offered: " + protocols;
        }
        return null;
    }
}
