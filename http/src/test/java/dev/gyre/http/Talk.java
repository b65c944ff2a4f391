package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import java.util.function.LongSupplier;

/// A peer of the server that sends what it is told to, byte for byte, and keeps what comes back.
final class Talk {
    private final HttpFixture fixture;
    private final Stream stream;
    private final StringBuilder received = new StringBuilder();
    private boolean ended;

    Talk(HttpFixture fixture, Stream stream) {
        this.fixture = fixture;
        this.stream = stream;
        stream.onData(data -> received.append(data.getText(ISO_8859_1)));
        stream.onEnd(() -> ended = true);
    }

    Stream stream() {
        return stream;
    }

    Talk send(String text) {
        stream.write(text.getBytes(ISO_8859_1));
        return this;
    }

    /// Sends it in pieces, each in a turn of its own.
    Talk sendInPieces(String text, int pieceBytes) {
        for (int at = 0; at < text.length(); at += pieceBytes) {
            send(text.substring(at, Math.min(text.length(), at + pieceBytes)));
            fixture.turn();
        }
        return this;
    }

    /// Everything so far.
    String received() {
        return received.toString();
    }

    void forget() {
        received.setLength(0);
    }

    /// From now on what comes is counted and not kept: for what is too long for that.
    LongSupplier count() {
        long[] got = new long[1];
        stream.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        return () -> got[0];
    }

    Talk await(String text) {
        fixture.runUntil(
                () -> "'" + text + "' comes, after:\n" + received,
                () -> received.indexOf(text) >= 0);
        return this;
    }

    /// Waits for the end, and says what came before it.
    String all() {
        fixture.runUntil(() -> "the connection ends, after:\n" + received, this::isOver);
        return received.toString();
    }

    boolean isOver() {
        return ended || stream.closeReason() != null;
    }

    boolean isReset() {
        return stream.closeReason() == CloseReason.RESET;
    }

    /// Takes one answer with a length off the front, and says what its content is.
    String answer(int status) {
        await("\r\n\r\n");
        assertThat(received.toString()).startsWith("HTTP/1.1 " + status + " ");
        int head = received.indexOf("\r\n\r\n") + 4;
        String fields = received.substring(0, head);
        int at = fields.indexOf("Content-Length: ");
        int length =
                at < 0
                        ? 0
                        : Integer.parseInt(fields.substring(at + 16, fields.indexOf("\r\n", at)));
        fixture.runUntil(
                () -> length + " bytes of content come, after:\n" + received,
                () -> received.length() >= head + length);
        String content = received.substring(head, head + length);
        received.delete(0, head + length);
        return content;
    }
}
