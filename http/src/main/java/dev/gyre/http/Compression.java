package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.http.internal.server.GzipEncoding;

/// Compresses response bodies with gzip for clients that accept it.
///
/// ```java
/// server.use(new Compression());
/// ```
///
/// **Compressed:** text of all kinds, JSON, JavaScript, XML, SVG and WebAssembly. Whole bodies are
/// compressed from 1 KiB, streams always. The result must be smaller, and `Accept-Encoding` must
/// prefer gzip or rank it equal.
///
/// **Not compressed:** partial responses (206), responses with a `Content-Encoding` or
/// `Cache-Control: no-transform`, streams with a `Content-Length`, and whole bodies above 1 MiB,
/// which would block the loop for too long. Use [Response#stream()] for those. Files are compressed
/// by [FilesConfig#compression()].
///
/// **Headers.** `Vary: Accept-Encoding` is added to all responses that could be compressed. A
/// strong `ETag` becomes weak.
///
/// **Streams** buffer writes until there is enough to compress. [ResponseStream#flush()] sends the
/// rest. Events are flushed one by one.
///
/// **Cost.** The loop thread compresses about 50 MB per second. Each open stream uses 256 KiB.
/// Beyond 1 024 streams the rest are sent uncompressed.
///
/// **Threads.** One instance serves any number of servers and loops.
public final class Compression implements Middleware {
    private static final int DEFAULT_LEVEL = 5;
    private static final int DEFAULT_MIN_BYTES = 1 << 10;

    private final GzipEncoding encoding;

    /// Creates middleware with level 5 for bodies from 1 KiB.
    public Compression() {
        this(DEFAULT_LEVEL, DEFAULT_MIN_BYTES);
    }

    /// Creates middleware.
    ///
    /// @param level from 1 (fast) to 9 (small)
    /// @param minBytes shorter bodies are sent uncompressed
    /// @throws IllegalArgumentException if the level is out of range, or the length negative
    public Compression(int level, int minBytes) {
        encoding = new GzipEncoding(level, Limits.zeroOrMore("minBytes", minBytes));
    }

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        encoding.applyTo(response);
        return next.handle(request, response);
    }

    /// Returns the number of responses that are being compressed.
    int activeEncoders() {
        return encoding.inUse();
    }
}
