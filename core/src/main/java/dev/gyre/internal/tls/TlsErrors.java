package dev.gyre.internal.tls;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;

/// Describes TLS failures so that an operator can act on them.
final class TlsErrors {
    private static final Pattern ALERT = Pattern.compile("Received fatal alert: (\\w+)");
    private static final Pattern CODE = Pattern.compile("^\\(\\w+\\) ");
    private static final int SHOWN_BYTES = 16;

    private TlsErrors() {}

    /// @param peer the server's name, for a client
    static SSLException describe(SSLException thrown, @Nullable String peer) {
        String words = message(thrown, peer == null ? "the peer" : peer);
        SSLException explained =
                thrown instanceof SSLHandshakeException
                        ? new SSLHandshakeException(words)
                        : new SSLException(words);
        explained.initCause(thrown);
        return explained;
    }

    private static String message(SSLException thrown, String peer) {
        String message = String.valueOf(thrown.getMessage());
        Matcher alert = ALERT.matcher(message);
        if (alert.find()) {
            return peer + " sent alert " + alert.group(1) + ": " + meaning(alert.group(1));
        }
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case CertificateExpiredException expired -> {
                    return "the certificate of " + peer + " has expired: " + expired.getMessage();
                }
                case CertificateNotYetValidException early -> {
                    return "the certificate of "
                            + peer
                            + " is not valid yet: "
                            + early.getMessage()
                            + "; is the clock right?";
                }
                case CertPathBuilderException _ -> {
                    return "the certificate of "
                            + peer
                            + " is not trusted: add its issuer with withTrustedCertificates if it"
                            + " should be";
                }
                default -> {}
            }
        }
        if (thrown.getCause() instanceof CertificateException refused) {
            return "the certificate of " + peer + " was rejected: " + refused.getMessage();
        }
        if (message.contains("No matching application layer protocol")) {
            return peer + " supports none of our application protocols (ALPN)";
        }
        if (message.contains("Empty client certificate chain")
                || message.contains("Empty server certificate chain")) {
            return peer + " sent no certificate, and one is required";
        }
        return "TLS with " + peer + " failed: " + CODE.matcher(message).replaceFirst("");
    }

    private static String meaning(String alert) {
        return switch (alert) {
            case "handshake_failure" ->
                    "no common cipher suite, curve or signature, or it requires a certificate";
            case "protocol_version" -> "no common TLS version";
            case "insufficient_security" -> "it rejects our cipher suites as too weak";
            case "unknown_ca" -> "it does not trust the issuer of our certificate";
            case "bad_certificate", "certificate_unknown", "unsupported_certificate" ->
                    "it does not accept our certificate";
            case "certificate_expired" -> "our certificate has expired";
            case "certificate_revoked" -> "our certificate was revoked";
            case "certificate_required" -> "it requires a certificate from us, and got none";
            case "access_denied" -> "it accepts our certificate, but denies access";
            case "unrecognized_name" -> "it does not know the requested server name";
            case "no_application_protocol" ->
                    "it supports none of our application protocols (ALPN)";
            case "no_renegotiation" -> "it does not renegotiate";
            case "bad_record_mac", "decrypt_error", "decode_error" ->
                    "it could not decode our messages";
            default -> "see RFC 8446, section 6.2";
        };
    }

    /// @param sent at least one byte
    static SSLException notTls(Ciphertext sent, boolean first) {
        StringBuilder shown = new StringBuilder("'");
        ByteBuffer begin = sent.peek(SHOWN_BYTES);
        while (begin.hasRemaining()) {
            int next = begin.get();
            shown.append(
                    next >= ' ' && next < 0x7f
                            ? String.valueOf((char) next)
                            : "\\x%02x".formatted(next & 0xff));
        }
        shown.append(sent.remaining() > SHOWN_BYTES ? "…'" : "'");
        if (!first) {
            return new SSLException(
                    "the peer sent bytes that are not TLS during the connection: " + shown);
        }
        String language = protocolName(shown.substring(1));
        return new SSLException(
                "the peer speaks "
                        + (language == null ? "no TLS" : language + ", not TLS")
                        + ": it sent "
                        + shown);
    }

    /// Describes a ClientHello in SSLv2 format, whatever version it offers.
    static SSLException ssl2() {
        return new SSLException(
                "the peer sent an SSLv2 hello, which is not supported: use TLS 1.2 or 1.3");
    }

    private static @Nullable String protocolName(String begin) {
        if (Pattern.matches("(?s)(GET|HEAD|PUT|POST|DELE|OPTI|PATC|TRAC|CONN|HTTP|PRI).*", begin)) {
            return "HTTP";
        }
        if (begin.startsWith("SSH-")) {
            return "SSH";
        }
        if (Pattern.matches("(?s)(EHLO|HELO|220[ -]).*", begin)) {
            return "SMTP or FTP";
        }
        return null;
    }
}
