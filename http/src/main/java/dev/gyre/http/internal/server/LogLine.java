package dev.gyre.http.internal.server;

import dev.gyre.http.RefusedRequest;
import dev.gyre.http.Request;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;

/// A request as a line of an access log. What is known of the request is noted when it comes: afterwards it may be
/// over.
public final class LogLine {
    private static final int MOST_CHARACTERS = 4_096;

    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("dd/MMM/uuuu:HH:mm:ss '+0000'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private record Second(long epochSecond, String text) {}

    // Shared: any thread puts in what it made, and any other may use it.
    private static volatile Second latest = new Second(Long.MIN_VALUE, "");

    private final StringBuilder begin;
    private final @Nullable String referrer;
    private final @Nullable String agent;
    private final boolean combined;

    /// @param combined whether it says where the peer comes from, and by what means
    public LogLine(Request request, boolean combined, Instant now) {
        this.combined = combined;
        referrer = combined ? request.header("Referer") : null;
        agent = combined ? request.header("User-Agent") : null;
        begin = opening(request.peer(), now);
        putRequest(
                request.method(), request.target(), request.isHttp10() ? "HTTP/1.0" : "HTTP/1.1");
    }

    /// @param combined as above
    public LogLine(RefusedRequest request, boolean combined, Instant now) {
        this.combined = combined;
        referrer = null;
        agent = null;
        begin = opening(request.peer(), now);
        putRequest(
                Objects.requireNonNullElse(request.method(), "-"),
                Objects.requireNonNullElse(request.target(), "-"),
                "-");
    }

    private static StringBuilder opening(SocketAddress peer, Instant now) {
        return new StringBuilder(160)
                .append(host(peer))
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

    private static String host(SocketAddress peer) {
        return peer instanceof InetSocketAddress known && known.getAddress() != null
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

    /// The line, without an end.
    ///
    /// @param nanos how long it took
    public String end(int status, long bytes, long nanos, boolean isCutOff) {
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
                .append(isCutOff ? " cut-off" : "")
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

    /// So that nobody can write what looks like another field or line.
    private static void escape(StringBuilder line, String text) {
        int end = Math.min(text.length(), MOST_CHARACTERS);
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
