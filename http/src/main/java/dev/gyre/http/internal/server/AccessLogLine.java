package dev.gyre.http.internal.server;

import dev.gyre.http.RejectedRequest;
import dev.gyre.http.Request;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;

/// A line of an access log. Copies the request's values when it arrives: the request has ended by
/// the time the line is written.
public final class AccessLogLine {
    private static final int MAX_CHARS = 4_096;

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("dd/MMM/uuuu:HH:mm:ss '+0000'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private record Second(long epochSecond, String text) {}

    // Shared: written and read by any thread.
    private static volatile Second latest = new Second(Long.MIN_VALUE, "");

    private final StringBuilder begin;
    private final @Nullable String referrer;
    private final @Nullable String agent;
    private final boolean combined;
    private String connection = "";

    /// Creates the line of a request.
    ///
    /// @param combined whether the line contains `Referer` and `User-Agent`
    public AccessLogLine(Request request, boolean combined, Instant now) {
        this.combined = combined;
        referrer = combined ? request.header("Referer") : null;
        agent = combined ? request.header("User-Agent") : null;
        begin = opening(request.clientAddress(), now);
        putRequest(
                request.method(), request.target(), request.isHttp10() ? "HTTP/1.0" : "HTTP/1.1");
    }

    /// Creates the line of a request that was rejected before routing.
    ///
    /// @param combined whether the line contains `Referer` and `User-Agent`
    public AccessLogLine(RejectedRequest request, boolean combined, Instant now) {
        this.combined = combined;
        referrer = null;
        agent = null;
        begin = opening(request.remoteAddress(), now);
        putRequest(
                Objects.requireNonNullElse(request.method(), "-"),
                Objects.requireNonNullElse(request.target(), "-"),
                "-");
    }

    /// Appends the id of the connection to the line.
    public void connection(long id) {
        connection = " conn=" + id;
    }

    private static StringBuilder opening(SocketAddress client, Instant now) {
        return new StringBuilder(160)
                .append(host(client))
                .append(" - - [")
                .append(date(now))
                .append("] \"");
    }

    private void putRequest(String method, String target, String version) {
        escape(begin, method);
        begin.append(' ');
        escape(begin, target);
        begin.append(' ').append(version).append('"');
    }

    private static String host(SocketAddress client) {
        return client instanceof InetSocketAddress known && known.getAddress() != null
                ? known.getAddress().getHostAddress()
                : "-";
    }

    private static String date(Instant now) {
        Second known = latest;
        if (known.epochSecond != now.getEpochSecond()) {
            known = new Second(now.getEpochSecond(), DATE.format(now));
            latest = known;
        }
        return known.text;
    }

    /// Returns the line, without a line break.
    ///
    /// @param nanos the time from the request to the end of the response
    public String end(int status, long bytes, long nanos, boolean isTruncated) {
        begin.append(' ').append(status).append(' ');
        if (bytes == 0) {
            begin.append('-');
        } else {
            begin.append(bytes);
        }
        if (combined) {
            quote(referrer);
            quote(agent);
        }
        long micros = nanos / 1_000;
        String fraction = Long.toString(1_000_000 + micros % 1_000_000);
        return begin.append(' ')
                .append(micros / 1_000_000)
                .append('.')
                .append(fraction, 1, fraction.length())
                .append(isTruncated ? " truncated" : "")
                .append(connection)
                .toString();
    }

    private void quote(@Nullable String text) {
        begin.append(" \"");
        if (text == null) {
            begin.append('-');
        } else {
            escape(begin, text);
        }
        begin.append('"');
    }

    /// Escapes text, so that a client cannot forge columns or lines.
    private static void escape(StringBuilder line, String text) {
        int end = Math.min(text.length(), MAX_CHARS);
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                line.append('\\').append(c);
            } else if (c < ' ' || c >= 0x7f) {
                line.append("\\x")
                        .append(Character.forDigit(c >> 4 & 0xf, 16))
                        .append(Character.forDigit(c & 0xf, 16));
            } else {
                line.append(c);
            }
        }
    }
}
