package dev.gyre.http;

import dev.gyre.http.internal.message.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

/// A cookie to be set by [Response#cookie]. Immutable: each method returns a changed copy.
///
/// ```java
/// response.cookie(Cookie.of("sid", id).httpOnly().secure().sameSite(SameSite.LAX));
/// ```
///
/// The path is `/` by default. Without [#maxAge] the browser drops the cookie when it closes.
///
/// **Prefixes.** Browsers accept a cookie named `__Secure-…` only with [#secure()], and `__Host-…`
/// only with [#secure()], the path `/` and no domain. `SameSite=None` and [#partitioned()] need
/// [#secure()], too. [Response#cookie] throws if that does not hold.
///
/// **Threads.** Any.
public final class Cookie extends Settings<Cookie> {
    /// Which requests from other sites carry a cookie.
    public enum SameSite {
        /// None.
        STRICT,
        /// Only top-level navigation with a safe method, such as a link.
        LAX,
        /// All. Needs [Cookie#secure()].
        NONE
    }

    /// Browsers ignore longer cookies.
    private static final int MAX_LENGTH = 4_096;

    private static final int MAX_ATTRIBUTE_LENGTH = 1_024;

    private final String name;
    private String value;
    private String path = "/";
    private @Nullable String domain;
    private @Nullable Duration maxAge;
    private @Nullable SameSite sameSite;
    private boolean httpOnly;
    private boolean secure;
    private boolean partitioned;

    private Cookie(String name, String value) {
        this.name = name;
        this.value = value;
    }

    /// Returns a cookie.
    ///
    /// @param name a token: letters, digits and `!#$%&'*+-.^_|~` and the backtick
    /// @param value visible ASCII without quotes, commas, semicolons and backslashes; encode other
    ///     values, for example as Base64
    /// @throws IllegalArgumentException if name or value are invalid, or longer than 4 096
    ///     characters together
    public static Cookie of(String name, String value) {
        requireName(name);
        return new Cookie(name, requireValue(name, value));
    }

    /// Returns a cookie that removes the one of that name.
    static Cookie removal(String name) {
        Cookie removal = of(name, "").maxAge(Duration.ZERO);
        return removal.hasPrefix("__Host-") || removal.hasPrefix("__Secure-")
                ? removal.secure()
                : removal;
    }

    private static void requireName(String name) {
        boolean token = !name.isEmpty();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            token &= c > ' ' && c < 0x7f && "()<>@,;:\\\"/[]?={}".indexOf(c) < 0;
        }
        if (!token) {
            throw new IllegalArgumentException(
                    "a cookie name consists of letters, digits and !#$%&'*+-.^_`|~");
        }
    }

    private static String requireValue(String name, String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c <= ' ' || c >= 0x7f || "\",;\\".indexOf(c) >= 0) {
                throw new IllegalArgumentException(
                        ("the value of cookie %s contains the character %d: encode it, for example"
                                        + " with Base64.getUrlEncoder()")
                                .formatted(name, (int) c));
            }
        }
        if (name.length() + value.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    ("cookie %s has more than %d characters, and browsers ignore it: keep the data"
                                    + " on the server")
                            .formatted(name, MAX_LENGTH));
        }
        return value;
    }

    private static String requireAttribute(String what, String text) {
        boolean valid = text.length() <= MAX_ATTRIBUTE_LENGTH;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            valid &= c >= ' ' && c < 0x7f && c != ';';
        }
        if (!valid) {
            throw new IllegalArgumentException(
                    "the %s of a cookie is ASCII without semicolons, up to %d characters"
                            .formatted(what, MAX_ATTRIBUTE_LENGTH));
        }
        return text;
    }

    /// Replaces the value.
    Cookie withValue(String value) {
        return with(copy -> copy.value = requireValue(name, value));
    }

    /// Hides the cookie from scripts.
    public Cookie httpOnly() {
        return with(copy -> copy.httpOnly = true);
    }

    /// Restricts the cookie to HTTPS. Browsers treat `http://localhost` as secure, too.
    public Cookie secure() {
        return with(copy -> copy.secure = true);
    }

    /// Sets which requests from other sites carry the cookie. Browsers assume `LAX` by default.
    public Cookie sameSite(SameSite sameSite) {
        return with(copy -> copy.sameSite = Objects.requireNonNull(sameSite, "sameSite"));
    }

    /// Sets how long the browser keeps the cookie. Zero removes it. Browsers limit it to 400 days.
    ///
    /// @throws IllegalArgumentException if the duration is negative
    public Cookie maxAge(Duration maxAge) {
        if (maxAge.isNegative()) {
            throw new IllegalArgumentException(
                    "maxAge must be at least 0, but is "
                            + Durations.format(maxAge)
                            + ": use zero to remove the cookie");
        }
        return with(copy -> copy.maxAge = maxAge);
    }

    /// Returns how long the browser keeps the cookie; `null` until it closes.
    @Nullable Duration maxAge() {
        return maxAge;
    }

    /// Restricts the cookie to a path and those below it. Default `/`.
    ///
    /// @throws IllegalArgumentException if the path does not start with a slash, or is invalid
    public Cookie path(String path) {
        if (!requireAttribute("path", path).startsWith("/")) {
            throw new IllegalArgumentException(
                    "the path of a cookie must start with a slash, but is " + path);
        }
        return with(copy -> copy.path = path);
    }

    /// Extends the cookie to a domain and its subdomains. Default: only the host that sets it.
    ///
    /// @throws IllegalArgumentException if the domain is empty or invalid
    public Cookie domain(String domain) {
        if (requireAttribute("domain", domain).isBlank()) {
            throw new IllegalArgumentException(
                    "the domain of a cookie must not be empty: omit domain() for the current host"
                            + " only");
        }
        return with(copy -> copy.domain = domain);
    }

    /// Stores the cookie separately per top-level site (CHIPS). Needs [#secure()].
    public Cookie partitioned() {
        return with(copy -> copy.partitioned = true);
    }

    /// Returns the name.
    public String name() {
        return name;
    }

    /// Returns the value.
    public String value() {
        return value;
    }

    private boolean hasPrefix(String prefix) {
        return name.regionMatches(true, 0, prefix, 0, prefix.length());
    }

    /// @throws IllegalArgumentException if a browser would ignore the cookie
    private void requireConsistent() {
        boolean host = hasPrefix("__Host-");
        if (!secure) {
            String cause =
                    host || hasPrefix("__Secure-")
                            ? "its prefix"
                            : sameSite == SameSite.NONE
                                    ? "SameSite=None"
                                    : partitioned ? "partitioned()" : null;
            if (cause != null) {
                throw new IllegalArgumentException(
                        ("cookie %s is not secure, and browsers ignore it because of %s: add"
                                        + " secure()")
                                .formatted(name, cause));
            }
        }
        if (host && (domain != null || !path.equals("/"))) {
            throw new IllegalArgumentException(
                    ("cookie %s has a domain or a path other than /, and browsers ignore it because"
                                    + " of its prefix: remove them, or rename it")
                            .formatted(name));
        }
    }

    /// Returns the value of the `Set-Cookie` header.
    String toHeader() {
        requireConsistent();
        StringBuilder header = new StringBuilder(128).append(name).append('=').append(value);
        header.append("; Path=").append(path);
        if (domain != null) {
            header.append("; Domain=").append(domain);
        }
        if (maxAge != null) {
            header.append("; Max-Age=").append(maxAge.toSeconds());
            if (maxAge.isZero()) {
                header.append("; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
            }
        }
        if (sameSite != null) {
            String site = sameSite.name();
            header.append("; SameSite=").append(site.charAt(0));
            header.append(site.substring(1).toLowerCase(Locale.ROOT));
        }
        header.append(secure ? "; Secure" : "").append(httpOnly ? "; HttpOnly" : "");
        return header.append(partitioned ? "; Partitioned" : "").toString();
    }

    /// Returns the name without the value, which may be a secret.
    @Override
    public String toString() {
        return "Cookie[" + name + "]";
    }
}
