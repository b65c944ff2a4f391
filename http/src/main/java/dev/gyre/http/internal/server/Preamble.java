package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.http.internal.message.WrittenDate;
import dev.gyre.io.Buffer;

import java.time.Instant;
import java.time.InstantSource;

/// The first lines of every answer: status, `Server` and `Date`. Those of 200 are made once a second; what changes less is
/// made once.
///
/// Loop thread only.
final class Preamble {
    private static final long SECOND_NANOS = 1_000_000_000;

    private final EventLoop loop;
    private final InstantSource clock;
    private final String server;

    private byte[] ok = {};
    private byte[] serverAndDate = {};
    private long madeAtNanos;
    private boolean made;

    Preamble(EventLoop loop, HttpConfig config) {
        this.loop = loop;
        clock = config.clock();
        server = config.serverName().isEmpty() ? "" : "Server: " + config.serverName() + "\r\n";
    }

    /// Puts the first lines.
    void put(int status, Buffer out) {
        long now = loop.nowNanos();
        if (!made || now - madeAtNanos >= SECOND_NANOS) {
            make(now);
        }
        if (status == 200) {
            out.put(ok);
        } else {
            out.put(Status.line(status)).put(serverAndDate);
        }
    }

    private void make(long now) {
        Instant written = clock.instant();
        madeAtNanos = now - written.getNano(); // Each second is written as it begins.
        made = true;
        String date = WrittenDate.of(written.getEpochSecond());
        serverAndDate = (server + "Date: " + date + "\r\n").getBytes(ISO_8859_1);
        byte[] line = Status.line(200);
        ok = new byte[line.length + serverAndDate.length];
        System.arraycopy(line, 0, ok, 0, line.length);
        System.arraycopy(serverAndDate, 0, ok, line.length, serverAndDate.length);
    }

    /// So much room a refusal needs at most.
    static final int REFUSAL_BYTES = 1_024;

    /// Puts an answer to what is no request, and says that it is the last one.
    void putRefusal(Refusal refusal, Buffer out) {
        put(refusal.status(), out);
        out.put(Lines.TEXT).put(Lines.CLOSE);
        if (refusal.status() == 503) {
            out.put(Lines.LATER);
        }
        out.put(Lines.LENGTH);
        Numbers.putDecimal(out, refusal.reason().length() + 1);
        out.put("\r\n\r\n").put(refusal.reason()).put("\n");
    }
}
