package dev.gyre.cli.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// A body of any length, generated as the client reads it: a terabyte needs no more memory than a
/// kilobyte.
///
/// Loop thread only.
final class LargeBody {
    private static final byte[] LINE =
            "Gyre generates this text while you read it, 32 kB at a time.\n".getBytes(US_ASCII);
    private static final byte[] CHUNK = chunk();

    private final ResponseStream out;
    private final Deferred<@Nullable Void> done;

    // Loop thread only.
    private long left;

    private LargeBody(long bytes, Request request, ResponseStream out) {
        left = bytes;
        this.out = out;
        done = request.loop().deferred();
    }

    private static byte[] chunk() {
        byte[] chunk = new byte[512 * LINE.length]; // 32 KiB, below a stream's high-water mark
        for (int at = 0; at < chunk.length; at += LINE.length) {
            System.arraycopy(LINE, 0, chunk, at, LINE.length);
        }
        return chunk;
    }

    static Promise<?> respond(long bytes, Request request, Response response) {
        ResponseStream out =
                response
                        .type("text/plain; charset=utf-8")
                        .header("Content-Length", Long.toString(bytes))
                        .stream();
        LargeBody body = new LargeBody(bytes, request, out);
        ResponseStream _ = out.onWritable(body::write).onClose(() -> body.done.resolve(null));
        body.write();
        return body.done.promise();
    }

    private void write() {
        boolean writable = true;
        while (writable && left > 0) {
            int length = (int) Math.min(left, CHUNK.length);
            left -= length;
            writable = out.write(length == CHUNK.length ? CHUNK : Arrays.copyOf(CHUNK, length));
        }
        if (left == 0) {
            Promise<?> _ = out.end(); // Closes it, which settles the promise.
        }
    }
}
