package dev.gyre.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Signs cookies, so that clients can read but not change them. Uses HMAC-SHA-256.
///
/// ```java
/// var signer = CookieSigner.of(key);
/// var cookie = Cookie.of("user", "ada").httpOnly().maxAge(Duration.ofHours(8));
/// response.cookie(signer.sign(cookie));
/// String user = signer.verify(request, "user"); // null if absent, forged or expired
/// ```
///
/// The signature covers name and value, so a value cannot move to another cookie.
///
/// **Expiry.** The signature of a cookie with [Cookie#maxAge] expires with it, also if a client
/// keeps the cookie. Without it, the cookie is valid until its key is removed. A signer cannot
/// revoke a cookie: if a logout must end all copies, keep the sessions on the server.
///
/// **Key rotation.** Put a new key first and keep the old one as long as its cookies live.
///
/// **Threads.** Any.
public final class CookieSigner {
    private static final int MIN_KEY_BYTES = 32;
    private static final String ALGORITHM = "HmacSHA256";

    private static final int SIGNATURE_BYTES = 32;

    private final List<SecretKeySpec> keys;
    private final InstantSource clock;

    private CookieSigner(List<SecretKeySpec> keys, InstantSource clock) {
        this.keys = keys;
        this.clock = clock;
    }

    /// Returns a signer.
    ///
    /// @param keys random bytes, at least 32 each; the first signs, all verify
    /// @throws IllegalArgumentException if no key is given, or one is too short
    public static CookieSigner of(byte[]... keys) {
        if (keys.length == 0) {
            throw new IllegalArgumentException(
                    "a signer needs at least one key: pass 32 random bytes from SecureRandom");
        }
        for (byte[] key : keys) {
            if (key.length < MIN_KEY_BYTES) {
                throw new IllegalArgumentException(
                        "a key of "
                                + key.length
                                + " bytes is too short: use 32 random bytes from SecureRandom");
            }
        }
        return new CookieSigner(
                Arrays.stream(keys).map(key -> new SecretKeySpec(key, ALGORITHM)).toList(),
                InstantSource.system());
    }

    /// Returns a copy with another clock for the expiry. Default: the system's.
    public CookieSigner withClock(InstantSource clock) {
        return new CookieSigner(keys, Objects.requireNonNull(clock, "clock"));
    }

    /// Returns the cookie with a signature at the end of its value. The signature expires after
    /// [Cookie#maxAge].
    ///
    /// @throws IllegalArgumentException if the cookie becomes too long
    public Cookie sign(Cookie cookie) {
        Duration maxAge = cookie.maxAge();
        byte[] expiry = {};
        if (maxAge != null) {
            long end =
                    clock.instant().getEpochSecond()
                            + Math.min(maxAge.toSeconds(), Integer.MAX_VALUE);
            expiry = ByteBuffer.allocate(Long.BYTES).putLong(end).array();
        }
        byte[] signature = signature(keys.getFirst(), cookie.name(), cookie.value(), expiry);
        byte[] both =
                ByteBuffer.allocate(expiry.length + signature.length)
                        .put(expiry)
                        .put(signature)
                        .array();
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(both);
        return cookie.withValue(cookie.value() + "." + text);
    }

    /// Returns the value of a signed cookie; `null` if it is absent, its signature is invalid, or
    /// it has expired.
    public @Nullable String verify(Request request, String name) {
        String signed;
        try {
            signed = request.cookie(name);
        } catch (HttpException e) {
            return null; // Not UTF-8, so not signed here.
        }
        int dot = signed == null ? -1 : signed.lastIndexOf('.');
        if (signed == null || dot < 0) {
            return null;
        }
        String value = signed.substring(0, dot);
        byte[] both;
        try {
            both = Base64.getUrlDecoder().decode(signed.substring(dot + 1));
        } catch (IllegalArgumentException e) {
            return null;
        }
        int expiryBytes = both.length - SIGNATURE_BYTES;
        if (expiryBytes != 0 && expiryBytes != Long.BYTES) {
            return null;
        }
        byte[] expiry = Arrays.copyOf(both, expiryBytes);
        byte[] signature = Arrays.copyOfRange(both, expiryBytes, both.length);
        boolean valid = false;
        for (SecretKeySpec key : keys) {
            // Always all keys, each in constant time: the duration reveals nothing.
            valid |= MessageDigest.isEqual(signature(key, name, value, expiry), signature);
        }
        boolean expired =
                expiryBytes > 0
                        && clock.instant().getEpochSecond() >= ByteBuffer.wrap(expiry).getLong();
        return valid && !expired ? value : null;
    }

    /// @param expiry empty for none
    private static byte[] signature(SecretKeySpec key, String name, String value, byte[] expiry) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update(name.getBytes(ISO_8859_1));
            mac.update((byte) '='); // Not part of a name.
            mac.update(value.getBytes(UTF_8));
            if (expiry.length > 0) {
                mac.update((byte) 0); // Not part of a value.
                mac.update(expiry);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no " + ALGORITHM, e);
        }
    }
}
