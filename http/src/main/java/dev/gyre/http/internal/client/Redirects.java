package dev.gyre.http.internal.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.Origin;
import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.http.internal.message.RequestHeadBuilder;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;

/// Decides where the redirects of one request lead (RFC 9110, 15.4, and the Fetch standard).
///
/// ```
///     301, 302   POST becomes GET without the body; other methods stay, with the body
///     303        all methods but HEAD become GET without the body
///     307, 308   method and body stay
/// ```
///
/// Loop thread only.
final class Redirects {
    /// The next request of a chain.
    record Next(String method, URI uri, boolean dropsBody) {}

    /// The requests so far, such as `GET http://localhost:8080/`.
    private final List<String> chain = new ArrayList<>();

    private int max;
    private boolean allowsInsecure;

    /// @throws IllegalArgumentException if the maximum is negative
    void setMax(int redirects) {
        if (redirects < 0) {
            throw new IllegalArgumentException(
                    "the maximum of redirects must not be negative, but is " + redirects);
        }
        max = redirects;
    }

    void allowInsecure() {
        allowsInsecure = true;
    }

    /// @param replayable whether the body can be sent again
    /// @return null if the response is not a redirect
    /// @throws ProtocolException if the redirect must not be followed; names the chain
    @Nullable Next next(RequestHeadBuilder sent, int status, Headers headers, boolean replayable)
            throws ProtocolException {
        String location = headers.get("Location");
        if (max == 0 || location == null || !isRedirect(status)) {
            return null;
        }
        chain.add(sent.method() + " " + sent.uri());
        URI to = resolve(sent.uri(), location, status);
        String method = sent.method();
        boolean becomesGet =
                status == 303
                        ? !method.equals("HEAD")
                        : (status == 301 || status == 302) && method.equals("POST");
        if (becomesGet) {
            method = "GET";
        } else if (!replayable) {
            throw failed(
                    "redirect "
                            + status
                            + " requires the body again, and a streamed one cannot be replayed:"
                            + " use send(body), or handle the redirect yourself",
                    method + " " + to);
        }
        String request = method + " " + to;
        if (sent.origin().secure() && !Origin.of(to).secure() && !allowsInsecure) {
            throw failed(
                    "the redirect from https to http was not followed:"
                            + " call allowInsecureRedirects() if it may be",
                    request);
        }
        if (chain.contains(request)) {
            throw failed("the redirects form a loop", request);
        }
        if (chain.size() > max) {
            throw failed("more than " + max + " redirects, see followRedirects", request);
        }
        return new Next(method, to, becomesGet);
    }

    private static boolean isRedirect(int status) {
        return switch (status) {
            case 301, 302, 303, 307, 308 -> true;
            default -> false;
        };
    }

    /// Returns the absolute URI without a fragment, in the form that the chain has.
    private URI resolve(URI base, String location, int status) throws ProtocolException {
        // Servers send UTF-8 and spaces unescaped.
        String text = PercentEncoding.address(new String(location.getBytes(ISO_8859_1), UTF_8));
        try {
            // The JDK would drop the last segment of the path.
            URI to = base.resolve(new URI(text.startsWith("?") ? base.getRawPath() + text : text));
            String target = RequestHeadBuilder.targetOf(to);
            while (target.startsWith("/../")) {
                target = target.substring("/..".length());
            }
            return new URI(Origin.of(to) + target);
        } catch (URISyntaxException | IllegalArgumentException e) {
            ProtocolException failed =
                    failed("redirect " + status + " has an unusable Location", text);
            failed.initCause(e);
            throw failed;
        }
    }

    private ProtocolException failed(String problem, String last) {
        return new ProtocolException(problem + ": " + String.join(" → ", chain) + " → " + last);
    }
}
