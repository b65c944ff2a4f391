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

/// What a server answers to a request for a WebSocket: RFC 6455, section 4.2. Pure functions; whoever asks writes the
/// answer.
public final class Handshake {
    static final String VERSION = "13";
    static final String KEY_FIELD = "Sec-WebSocket-Key";
    static final String ACCEPT_FIELD = "Sec-WebSocket-Accept";
    static final String VERSION_FIELD = "Sec-WebSocket-Version";
    static final String PROTOCOL_FIELD = "Sec-WebSocket-Protocol";
    static final String EXTENSIONS_FIELD = "Sec-WebSocket-Extensions";

    /// Of the RFC: shows that whoever answers knows WebSockets.
    private static final String SALT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private static final int NONCE_BYTES = 16;
    private static final int NONCE_CHARS = 24;
    private static final String ALL_ORIGINS = "*";

    private Handshake() {}

    /// What the request comes to.
    public sealed interface Answer {}

    /// The upgrade: 101.
    ///
    /// @param accept the value of `Sec-WebSocket-Accept`
    /// @param protocol the value of `Sec-WebSocket-Protocol`; null if there is to be none
    /// @param extensions the value of `Sec-WebSocket-Extensions`; null if there is to be none
    public record Accepted(String accept, @Nullable String protocol, @Nullable String extensions)
            implements Answer {}

    /// No upgrade.
    ///
    /// @param reason for the body of the answer, seen by the peer
    /// @param fields what belongs into the answer's header beside the usual
    public record Refused(int status, String reason, Map<String, String> fields)
            implements Answer {}

    /// Answers a request.
    ///
    /// @param secure whether it came over TLS
    public static Answer answer(
            String method,
            boolean http10,
            boolean secure,
            Headers headers,
            WebSocketConfig config) {
        if (!method.equals("GET")) {
            return refused(400, "a WebSocket is asked for by GET, not by " + method);
        }
        if (http10) {
            return refused(400, "a WebSocket needs HTTP/1.1");
        }
        if (!headers.lists("Upgrade", "websocket") || !headers.lists("Connection", "upgrade")) {
            return upgradeRequired("this is a WebSocket: upgrade to it");
        }
        List<String> versions = headers.all(VERSION_FIELD);
        if (versions.size() != 1 || !versions.getFirst().equals(VERSION)) {
            return upgradeRequired("of WebSocket version " + VERSION + " only");
        }
        List<String> keys = headers.all(KEY_FIELD);
        if (keys.size() != 1 || !isNonce(keys.getFirst())) {
            return refused(400, KEY_FIELD + " has to be sixteen bytes in base64, once");
        }
        List<String> origins = headers.all("Origin");
        if (!isWelcome(origins, headers.all("Host"), secure, config.origins())) {
            return refused(403, "not for pages of this origin: " + String.join(", ", origins));
        }
        String extensions =
                config.compression()
                        ? PermessageDeflate.answer(headers.all(EXTENSIONS_FIELD))
                        : null;
        return new Accepted(
                acceptFor(keys.getFirst()),
                chosen(headers.all(PROTOCOL_FIELD), config.protocols()),
                extensions);
    }

    private static Refused refused(int status, String reason) {
        return new Refused(status, reason, Map.of());
    }

    private static Refused upgradeRequired(String reason) {
        return new Refused(
                426,
                reason,
                Map.of("Upgrade", "websocket", "Connection", "Upgrade", VERSION_FIELD, VERSION));
    }

    private static boolean isNonce(String key) {
        try {
            // The decoder would do without the padding.
            return key.length() == NONCE_CHARS
                    && Base64.getDecoder().decode(key).length == NONCE_BYTES;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /// Browsers always say of which page they are. Who says nothing is none, and could say anything.
    private static boolean isWelcome(
            List<String> origins, List<String> hosts, boolean secure, List<String> welcome) {
        if (origins.isEmpty() || welcome.contains(ALL_ORIGINS)) {
            return true;
        }
        if (origins.size() != 1) {
            return false;
        }
        String origin = origins.getFirst();
        return welcome.isEmpty()
                ? hosts.size() == 1 && isSame(origin, hosts.getFirst(), secure)
                : welcome.stream().anyMatch(origin::equalsIgnoreCase);
    }

    /// Whether a page is of the host that is asked. In the clear one of `https` is as good: whoever ends TLS in front
    /// of a server hands on what such a page asks.
    private static boolean isSame(String origin, String host, boolean secure) {
        String lower = origin.toLowerCase(Locale.ROOT);
        boolean https = lower.startsWith("https://");
        if (!https && (secure || !lower.startsWith("http://"))) {
            return false;
        }
        String usual = https ? ":443" : ":80";
        String named = lower.substring(lower.indexOf("://") + 3);
        return without(usual, named).equals(without(usual, host.toLowerCase(Locale.ROOT)));
    }

    private static String without(String end, String text) {
        return text.endsWith(end) ? text.substring(0, text.length() - end.length()) : text;
    }

    private static @Nullable String chosen(List<String> fields, List<String> spoken) {
        for (String each : spoken) {
            if (fields.stream()
                    .anyMatch(field -> List.of(field.split("[ \t]*,[ \t]*")).contains(each))) {
                return each;
            }
        }
        return null;
    }

    /// What answers a key.
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
