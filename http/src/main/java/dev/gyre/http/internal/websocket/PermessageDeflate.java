package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Negotiates permessage-deflate: RFC 7692, section 7. Both sides never take contexts over: for
/// each idle socket a context would hold 40 KB to inflate and 300 KB to deflate.
final class PermessageDeflate {
    /// The offer of a client. It does not limit windows, because the inflater accepts any.
    static final String OFFER =
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

    private static final String NAME = "permessage-deflate";
    private static final String SERVER_NO_CONTEXT = "server_no_context_takeover";
    private static final String CLIENT_NO_CONTEXT = "client_no_context_takeover";
    private static final String SERVER_WINDOW = "server_max_window_bits";
    private static final String CLIENT_WINDOW = "client_max_window_bits";

    /// The only window that the JDK deflates with.
    private static final int OWN_WINDOW = 15;

    private static final int MIN_WINDOW = 8;

    // The grammar of RFC 6455, section 9.1: name ; parameter ; parameter=token ; parameter="token"
    private static final String TOKEN = "([!#$%&'*+.^_`|~0-9A-Za-z-]++)";
    private static final Pattern EXTENSION = Pattern.compile("[ \t]*+" + TOKEN + "[ \t]*+");
    private static final Pattern PARAMETER =
            Pattern.compile(
                    ";[ \t]*+%1$s[ \t]*+(?:=[ \t]*+(?:%1$s|\"%1$s\")[ \t]*+)?".formatted(TOKEN));

    /// A parameter without a value has an empty one.
    private record Extension(String name, Map<String, String> parameters) {}

    private PermessageDeflate() {}

    /// Accepts the first offer that a server can keep.
    ///
    /// @param offers the values of `Sec-WebSocket-Extensions` in the request
    /// @return the value for the response; null if there is no such offer
    static @Nullable String accept(List<String> offers) {
        for (String value : offers) {
            List<Extension> extensions = parse(value);
            if (extensions == null) {
                return null;
            }
            for (Extension offer : extensions) {
                if (offer.name().equals(NAME) && isAcceptable(offer.parameters())) {
                    // A client that limits the server's window expects its size in the response.
                    boolean limits = offer.parameters().containsKey(SERVER_WINDOW);
                    return OFFER + (limits ? "; " + SERVER_WINDOW + "=" + OWN_WINDOW : "");
                }
            }
        }
        return null;
    }

    private static boolean isAcceptable(Map<String, String> parameters) {
        return parameters.entrySet().stream()
                .allMatch(
                        each -> {
                            String value = each.getValue();
                            return switch (each.getKey()) {
                                case SERVER_NO_CONTEXT, CLIENT_NO_CONTEXT -> value.isEmpty();
                                case SERVER_WINDOW -> window(value) == OWN_WINDOW;
                                case CLIENT_WINDOW -> value.isEmpty() || window(value) > 0;
                                default -> false;
                            };
                        });
    }

    /// Returns whether a client can keep the server's response to [#OFFER].
    static boolean isAgreed(String response) {
        List<Extension> extensions = parse(response);
        if (extensions == null
                || extensions.size() != 1
                || !extensions.getFirst().name().equals(NAME)) {
            return false;
        }
        // The server must not take contexts over, as requested. Whether the client does is its own
        // decision. Limits on the client's window were not offered.
        Map<String, String> parameters = extensions.getFirst().parameters();
        String server = parameters.remove(SERVER_NO_CONTEXT);
        String client = parameters.remove(CLIENT_NO_CONTEXT);
        String window = parameters.remove(SERVER_WINDOW);
        return "".equals(server)
                && (client == null || client.isEmpty())
                && (window == null || window(window) > 0)
                && parameters.isEmpty();
    }

    /// @return from 8 to 15; 0 if the value is invalid
    private static int window(String value) {
        for (int bits = MIN_WINDOW; bits <= OWN_WINDOW; bits++) {
            if (value.equals(Integer.toString(bits))) {
                return bits;
            }
        }
        return 0;
    }

    /// @return null if the value is malformed
    private static @Nullable List<Extension> parse(String value) {
        List<Extension> extensions = new ArrayList<>();
        Matcher extension = EXTENSION.matcher(value);
        Matcher parameter = PARAMETER.matcher(value);
        int at = 0;
        while (extension.region(at, value.length()).lookingAt()) {
            at = extension.end();
            Map<String, String> parameters = new HashMap<>();
            while (parameter.region(at, value.length()).lookingAt()) {
                at = parameter.end();
                String token = parameter.group(2) == null ? parameter.group(3) : parameter.group(2);
                if (parameters.put(parameter.group(1), token == null ? "" : token) != null) {
                    return null; // A repeated parameter is ambiguous.
                }
            }
            extensions.add(new Extension(extension.group(1), parameters));
            if (at == value.length()) {
                return extensions;
            }
            if (value.charAt(at) != ',') {
                return null;
            }
            at++;
        }
        return null;
    }
}
