package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.http.Headers;
import dev.gyre.http.WebSocketConfig;

import org.jspecify.annotations.Nullable;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Decides about requests for a WebSocket: RFC 6455, section 4.2. Pure functions; the caller writes
/// the response.
public final class ServerHandshake {
    static final String KEY = "Sec-WebSocket-Key";
    static final String ACCEPT = "Sec-WebSocket-Accept";
    static final String VERSION = "Sec-WebSocket-Version";
    static final String PROTOCOL = "Sec-WebSocket-Protocol";
    static final String EXTENSIONS = "Sec-WebSocket-Extensions";
    static final String SUPPORTED_VERSION = "13";

    /// Given by the RFC. It proves that the server supports WebSockets.
    private static final String SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private static final int NONCE_BYTES = 16;
    private static final int NONCE_CHARS = 24;
    private static final String ALL_ORIGINS = "*";

    private ServerHandshake() {}

    /// The decision about a request.
    public sealed interface Decision {}

    /// The upgrade: 101.
    ///
    /// @param accept the value of `Sec-WebSocket-Accept`
    /// @param protocol the value of `Sec-WebSocket-Protocol`; null if absent
    /// @param extensions the value of `Sec-WebSocket-Extensions`; null if absent
    public record Accepted(String accept, @Nullable String protocol, @Nullable String extensions)
            implements Decision {}

    /// No upgrade.
    ///
    /// @param reason for the body of the response
    /// @param headers to add to the response
    public record Rejected(int status, String reason, Map<String, String> headers)
            implements Decision {}

    /// Decides about a request.
    ///
    /// @param secure whether the client uses TLS
    /// @param host as the client sent it, or as a trusted proxy forwarded it
    public static Decision decide(
            String method,
            boolean http10,
            boolean secure,
            String host,
            Headers headers,
            WebSocketConfig config) {
        if (!method.equals("GET")) {
            return rejected(400, "a WebSocket is requested by GET, not by " + method);
        }
        if (http10) {
            return rejected(400, "a WebSocket requires HTTP/1.1");
        }
        if (!headers.containsToken("Upgrade", "websocket")
                || !headers.containsToken("Connection", "upgrade")) {
            return upgradeRequired("this route is a WebSocket: request the upgrade");
        }
        List<String> versions = headers.getAll(VERSION);
        if (versions.size() != 1 || !versions.getFirst().equals(SUPPORTED_VERSION)) {
            return upgradeRequired("only WebSocket version " + SUPPORTED_VERSION + " is supported");
        }
        List<String> keys = headers.getAll(KEY);
        if (keys.size() != 1 || !isNonce(keys.getFirst())) {
            return rejected(400, KEY + " must be one value of 16 bytes in base64");
        }
        List<String> origins = headers.getAll("Origin");
        if (!isAllowed(origins, host, secure, config.origins())) {
            return rejected(403, "pages of this origin are not allowed: " + origins);
        }
        return new Accepted(
                acceptFor(keys.getFirst()),
                select(headers.getAll(PROTOCOL), config.protocols()),
                config.compression() ? PermessageDeflate.accept(headers.getAll(EXTENSIONS)) : null);
    }

    private static Rejected rejected(int status, String reason) {
        return new Rejected(status, reason, Map.of());
    }

    private static Rejected upgradeRequired(String reason) {
        return new Rejected(
                426,
                reason,
                Map.of(
                        "Upgrade",
                        "websocket",
                        "Connection",
                        "Upgrade",
                        VERSION,
                        SUPPORTED_VERSION));
    }

    private static boolean isNonce(String key) {
        try {
            // The decoder does not require the padding.
            return key.length() == NONCE_CHARS
                    && Base64.getDecoder().decode(key).length == NONCE_BYTES;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /// Browsers always send the origin of the page. Other clients could send any value.
    private static boolean isAllowed(
            List<String> origins, String host, boolean secure, List<String> allowed) {
        if (origins.isEmpty() || allowed.contains(ALL_ORIGINS)) {
            return true;
        }
        if (origins.size() != 1) {
            return false;
        }
        String origin = origins.getFirst();
        return allowed.isEmpty()
                ? !host.isEmpty() && isSameOrigin(origin, host, secure)
                : allowed.stream().anyMatch(origin::equalsIgnoreCase);
    }

    /// Returns whether a page is from the requested host. Over plaintext `https` is accepted too: a
    /// proxy may terminate TLS in front of the server.
    private static boolean isSameOrigin(String origin, String host, boolean secure) {
        String lower = origin.toLowerCase(Locale.ROOT);
        boolean https = lower.startsWith("https://");
        if (!https && (secure || !lower.startsWith("http://"))) {
            return false;
        }
        String defaultPort = https ? ":443" : ":80";
        String named = lower.substring(lower.indexOf("://") + 3);
        return withoutSuffix(named, defaultPort)
                .equals(withoutSuffix(host.toLowerCase(Locale.ROOT), defaultPort));
    }

    private static String withoutSuffix(String text, String suffix) {
        return text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
    }

    private static @Nullable String select(List<String> offers, List<String> supported) {
        for (String each : supported) {
            if (offers.stream()
                    .anyMatch(offer -> List.of(offer.split("[ \t]*,[ \t]*")).contains(each))) {
                return each;
            }
        }
        return null;
    }

    /// Returns the value of `Sec-WebSocket-Accept` for a key.
    static String acceptFor(String key) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-1").digest((key + SALT).getBytes(US_ASCII));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-1", e);
        }
    }
}
