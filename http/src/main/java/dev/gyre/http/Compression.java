package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.http.internal.server.GzipEncoding;

/// Sends content compressed with gzip to peers that take it.
///
/// ```java
/// server.use(new Compression());
/// ```
///
/// **What is compressed:** text of every kind, JSON, JavaScript, XML, SVG and WebAssembly, from 1 KiB on if it is
/// there as a whole and always if it is streamed; only if that makes it smaller, and if `Accept-Encoding` wants
/// gzip no less than the content as it is. **What is not:** parts (206), what has a `Content-Encoding` already or
/// forbids it (`Cache-Control: no-transform`), streams with a `Content-Length`, whole content of more than 1 MiB,
/// which would keep the loop busy for too long: [Response#stream()] is for that. Files see to it themselves: [FilesConfig#compression()].
///
/// `Vary: Accept-Encoding` is added to whatever might be compressed, and a strong `ETag` becomes a weak one.
///
/// **Streams** hold back what is written until there is enough of it: [ResponseStream#flush()] hands it on. Events
/// are handed on one by one.
///
/// **Cost.** The loop thread compresses, some 50 MB a second, and each stream has a quarter of a MiB while it is
/// open; beyond 1 024 of them they are sent as they are.
///
/// **Threads.** One serves any number of servers and loops.
public final class Compression implements Middleware {
    private static final int USUAL_LEVEL = 5;
    private static final int USUAL_LEAST_BYTES = 1 << 10;

    private final GzipEncoding encoding;

    /// With the usual settings.
    public Compression() {
        this(USUAL_LEVEL, USUAL_LEAST_BYTES);
    }

    /// @param level from 1, fast, to 9, small; usually 5
    /// @param leastBytes what is shorter is sent as it is; usually 1 024
    /// @throws IllegalArgumentException if the level is none, or the length negative
    public Compression(int level, int leastBytes) {
        if (leastBytes < 0) {
            throw new IllegalArgumentException("leastBytes is never negative: " + leastBytes);
        }
        encoding = new GzipEncoding(level, leastBytes);
    }

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        encoding.applyTo(response);
        return next.handle(request, response);
    }

    /// How many answers are being compressed.
    int underWay() {
        return encoding.inUse();
    }
}
