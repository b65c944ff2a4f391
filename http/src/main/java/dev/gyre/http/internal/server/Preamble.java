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
    private final byte[] server;

    private byte[] ok = {};
    private byte[] date = {};
    private long madeAtNanos;
    private boolean made;

    Preamble(EventLoop loop, HttpConfig config) {
        this.loop = loop;
        clock = config.clock();
        String name = config.serverName();
        server = (name.isEmpty() ? "" : "Server: " + name + "\r\n").getBytes(ISO_8859_1);
    }

    /// Puts the first lines.
    void put(int status, Buffer out) {
        makeOnceASecond();
        if (status == 200) {
            out.put(ok);
        } else {
            out.put(Status.line(status)).put(server).put(date);
        }
    }

    /// Puts the status line, and of the others those that are wanted.
    void put(int status, Buffer out, boolean withServer, boolean withDate) {
        makeOnceASecond();
        out.put(Status.line(status));
        if (withServer) {
            out.put(server);
        }
        if (withDate) {
            out.put(date);
        }
    }

    private void makeOnceASecond() {
        long now = loop.nowNanos();
        if (!made || now - madeAtNanos >= SECOND_NANOS) {
            make(now);
        }
    }

    private void make(long now) {
        Instant written = clock.instant();
        madeAtNanos = now - written.getNano(); // Each second is written as it begins.
        made = true;
        date = ("Date: " + WrittenDate.of(written.getEpochSecond()) + "\r\n").getBytes(ISO_8859_1);
        byte[] line = Status.line(200);
        ok = new byte[line.length + server.length + date.length];
        System.arraycopy(line, 0, ok, 0, line.length);
        System.arraycopy(server, 0, ok, line.length, server.length);
        System.arraycopy(date, 0, ok, line.length + server.length, date.length);
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
