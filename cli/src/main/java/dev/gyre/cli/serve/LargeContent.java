package dev.gyre.cli.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// Any amount of text, made as the peer takes it: a terabyte costs no more memory than a kilobyte.
///
/// Loop thread only.
final class LargeContent {
    private static final byte[] LINE =
            "Gyre was here, and had no more of this in memory than a piece.\n".getBytes(US_ASCII);
    private static final byte[] PIECE = piece();

    private final ResponseStream out;
    private final Deferred<@Nullable Void> done;

    // Loop thread only.
    private long left;

    private LargeContent(long bytes, Request request, ResponseStream out) {
        left = bytes;
        this.out = out;
        done = request.loop().deferred();
    }

    private static byte[] piece() {
        byte[] piece = new byte[512 * LINE.length]; // 32 KiB, less than what a stream lets wait
        for (int at = 0; at < piece.length; at += LINE.length) {
            System.arraycopy(LINE, 0, piece, at, LINE.length);
        }
        return piece;
    }

    static Promise<?> answer(long bytes, Request request, Response response) {
        ResponseStream out =
                response
                        .type("text/plain; charset=utf-8")
                        .header("Content-Length", Long.toString(bytes))
                        .stream();
        LargeContent content = new LargeContent(bytes, request, out);
        ResponseStream _ = out.onWritable(content::write).onClose(() -> content.done.resolve(null));
        content.write();
        return content.done.promise();
    }

    private void write() {
        boolean room = true;
        while (room && left > 0) {
            int length = (int) Math.min(left, PIECE.length);
            left -= length;
            room = out.write(length == PIECE.length ? PIECE : Arrays.copyOf(PIECE, length));
        }
        if (left == 0) {
            Promise<?> _ = out.end(); // which closes it, and settles the promise
        }
    }
}
