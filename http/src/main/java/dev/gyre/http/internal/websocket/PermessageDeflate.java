package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Agrees on permessage-deflate: RFC 7692, section 7. Both sides always without context takeover: a context is 40 KB
/// to inflate and 300 KB to deflate, for every socket that waits.
final class PermessageDeflate {
    /// What a client offers. It needs no word about windows: the inflater takes any.
    static final String OFFER =
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

    private static final String NAME = "permessage-deflate";
    private static final String SERVER_FORGETS = "server_no_context_takeover";
    private static final String CLIENT_FORGETS = "client_no_context_takeover";
    private static final String SERVER_WINDOW = "server_max_window_bits";
    private static final String CLIENT_WINDOW = "client_max_window_bits";

    /// The only window that the JDK deflates with.
    private static final int OUR_WINDOW = 15;

    private static final int LEAST_WINDOW = 8;

    private PermessageDeflate() {}

    /// The server's side: answers the first offer that it can keep.
    ///
    /// @return the value of the answer's field; null for no such extension
    static @Nullable String answer(List<String> fields) {
        for (String field : fields) {
            List<ExtensionList.Extension> offers = ExtensionList.parse(field);
            if (offers == null) {
                return null;
            }
            for (ExtensionList.Extension offer : offers) {
                if (offer.name().equals(NAME) && isAcceptable(offer.parameters())) {
                    // Who limits the server's window is to be told which one it is.
                    boolean limits = offer.parameters().containsKey(SERVER_WINDOW);
                    return OFFER + (limits ? "; " + SERVER_WINDOW + "=" + OUR_WINDOW : "");
                }
            }
        }
        return null;
    }

    private static boolean isAcceptable(Map<String, String> parameters) {
        for (Map.Entry<String, String> each : parameters.entrySet()) {
            String value = each.getValue();
            boolean fine =
                    switch (each.getKey()) {
                        case SERVER_FORGETS, CLIENT_FORGETS -> value.isEmpty();
                        case SERVER_WINDOW -> window(value) == OUR_WINDOW;
                        case CLIENT_WINDOW -> value.isEmpty() || window(value) > 0;
                        default -> false;
                    };
            if (!fine) {
                return false;
            }
        }
        return true;
    }

    /// The client's side: whether an answer is one to [#OFFER] that can be kept.
    static boolean isAgreed(String field) {
        List<ExtensionList.Extension> answers = ExtensionList.parse(field);
        if (answers == null || answers.size() != 1 || !answers.getFirst().name().equals(NAME)) {
            return false;
        }
        Map<String, String> parameters = new LinkedHashMap<>(answers.getFirst().parameters());
        // The server must forget, as it was asked to; that the client does is its own affair.
        // Limits on the client's window
        // were not invited.
        String forgets = parameters.remove(SERVER_FORGETS);
        String own = parameters.remove(CLIENT_FORGETS);
        String window = parameters.remove(SERVER_WINDOW);
        return "".equals(forgets)
                && (own == null || own.isEmpty())
                && (window == null || window(window) > 0)
                && parameters.isEmpty();
    }

    /// @return from 8 to 15; 0 if it is none
    private static int window(String value) {
        for (int bits = LEAST_WINDOW; bits <= OUR_WINDOW; bits++) {
            if (value.equals(Integer.toString(bits))) {
                return bits;
            }
        }
        return 0;
    }
}
