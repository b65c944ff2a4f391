package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.internal.message.HttpDate;
import dev.gyre.io.Buffer;

import java.time.Instant;
import java.time.InstantSource;

/// The first lines of every response: status line, `Server` and `Date`. Those of status 200 are
/// formatted once per second.
///
/// Loop thread only.
final class StatusAndDateCache {
    /// The max size of a rejection without its body.
    static final int MAX_REJECTION_BYTES = 1_024;

    private static final long SECOND_NANOS = 1_000_000_000;

    private final EventLoop loop;
    private final InstantSource clock;
    private final byte[] server;

    // Loop thread only.
    private byte[] ok = {};
    private byte[] date = {};
    private long formattedAtNanos;

    StatusAndDateCache(EventLoop loop, HttpConfig config) {
        this.loop = loop;
        clock = config.clock();
        String name = config.serverName();
        server = (name.isEmpty() ? "" : "Server: " + name + "\r\n").getBytes(ISO_8859_1);
    }

    /// Puts all first lines.
    void put(int status, Buffer out) {
        formatOncePerSecond();
        if (status == 200) {
            out.put(ok);
        } else {
            out.put(Status.line(status)).put(server).put(date);
        }
    }

    /// Puts the status line, and the others unless the handler has set its own.
    void put(int status, Buffer out, boolean withServer, boolean withDate) {
        formatOncePerSecond();
        out.put(Status.line(status));
        if (withServer) {
            out.put(server);
        }
        if (withDate) {
            out.put(date);
        }
    }

    private void formatOncePerSecond() {
        long now = loop.nowNanos();
        if (ok.length == 0 || now - formattedAtNanos >= SECOND_NANOS) {
            format(now);
        }
    }

    private void format(long now) {
        Instant instant = clock.instant();
        formattedAtNanos = now - instant.getNano(); // Formats again as the next second begins.
        date = ("Date: " + HttpDate.of(instant.getEpochSecond()) + "\r\n").getBytes(ISO_8859_1);
        byte[] line = Status.line(200);
        ok = new byte[line.length + server.length + date.length];
        System.arraycopy(line, 0, ok, 0, line.length);
        System.arraycopy(server, 0, ok, line.length, server.length);
        System.arraycopy(date, 0, ok, line.length + server.length, date.length);
    }

    /// Puts the response to a request rejected before routing, the last one of its connection.
    void putRejection(int status, ErrorFormat.ErrorBody body, Buffer out) {
        put(status, out);
        out.put("Content-Type: ")
                .put(body.contentType())
                .put("\r\n")
                .put(HeaderLines.CONNECTION_CLOSE);
        if (status == 503) {
            out.put(HeaderLines.RETRY_AFTER);
        }
        out.put(HeaderLines.CONTENT_LENGTH);
        HeaderLines.putDecimal(out, body.bytes().length);
        out.put("\r\n\r\n").put(body.bytes());
    }
}
