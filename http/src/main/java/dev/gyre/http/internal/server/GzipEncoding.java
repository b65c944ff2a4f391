package dev.gyre.http.internal.server;

import dev.gyre.http.Headers;
import dev.gyre.http.Response;
import dev.gyre.http.internal.coding.AcceptEncoding;
import dev.gyre.http.internal.coding.GzipCoder;
import dev.gyre.http.internal.coding.MediaTypes;

import org.jspecify.annotations.Nullable;

import java.util.Locale;

/// Compresses response bodies for clients that accept gzip, if that makes them smaller.
///
/// **Threads.** Any loop's thread, several at a time.
public final class GzipEncoding {
    /// The max number of coders. A streamed body holds one until its end; further bodies are not
    /// compressed.
    private static final int MAX_CODERS = 1_024;

    /// The max size of a whole body. A larger one would block the loop for too long.
    private static final int MAX_BYTES = 1 << 20;

    private final GzipCoder.Pool coders;
    private final int minBytes;

    /// @param level from 1 to 9
    /// @param minBytes smaller bodies are not compressed
    public GzipEncoding(int level, int minBytes) {
        coders = new GzipCoder.Pool(level, MAX_CODERS);
        this.minBytes = minBytes;
    }

    /// Compresses the body of a response if that makes it smaller.
    public void applyTo(Response response) {
        ((ServerResponse) response).encode(this);
    }

    /// Returns the number of coders in use, for tests.
    public int inUse() {
        return coders.inUse();
    }

    /// Compresses a whole body.
    ///
    /// @return the same array if compression does not apply
    byte[] whole(Headers request, ResponseState response, String type, byte[] content) {
        if (content.length < minBytes
                || content.length > MAX_BYTES
                || !isAccepted(request, response, type)) {
            return content;
        }
        GzipCoder coder = coders.tryAcquire();
        if (coder == null) {
            return content;
        }
        byte[] smaller;
        try {
            smaller = coder.whole(content);
        } finally {
            coders.release(coder);
        }
        if (smaller.length >= content.length) {
            return content;
        }
        setHeaders(response);
        return smaller;
    }

    /// Returns a filter for a streamed body; `null` if compression does not apply.
    @Nullable Filter streamed(Headers request, ResponseState response, String type) {
        GzipCoder coder = isAccepted(request, response, type) ? coders.tryAcquire() : null;
        if (coder == null) {
            return null;
        }
        try {
            setHeaders(response);
        } catch (IllegalArgumentException e) {
            coders.release(coder); // The head has reached its max size.
            throw e;
        }
        // An event must arrive when it is sent, not when a block of them is full.
        boolean eager = type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
        return new Filter(coder, eager);
    }

    private static boolean isAccepted(Headers request, ResponseState response, String type) {
        int status = response.status();
        String caching = response.header("Cache-Control");
        if (status == 206
                || Status.isWithoutBody(status)
                || !MediaTypes.isCompressible(type)
                || response.header("Content-Encoding") != null
                || (caching != null && caching.toLowerCase(Locale.ROOT).contains("no-transform"))) {
            return false;
        }
        // Also without compression: a cache must not send this response to other clients.
        response.addHeader("Vary", "Accept-Encoding");
        return AcceptEncoding.acceptsGzip(request);
    }

    private static void setHeaders(ResponseState response) {
        response.header("Content-Encoding", "gzip");
        String etag = response.header("ETag");
        if (etag != null && !etag.startsWith("W/")) {
            response.header("ETag", "W/" + etag); // Equal in meaning, not in bytes.
        }
    }

    /// Compresses a streamed body. Loop thread only.
    final class Filter {
        private final GzipCoder coder;
        private final boolean eager;

        private Filter(GzipCoder coder, boolean eager) {
            this.coder = coder;
            this.eager = eager;
        }

        /// Compresses a part. May return an empty array.
        byte[] filter(byte[] content, int length) {
            return coder.next(content, length, eager);
        }

        /// Returns all output that is held back.
        byte[] flush() {
            return coder.flush();
        }

        /// Returns the rest of the output. No other call follows.
        byte[] end() {
            try {
                return coder.end();
            } finally {
                coders.release(coder);
            }
        }

        /// Releases the coder without an end. No other call follows.
        void giveUp() {
            coders.release(coder);
        }
    }
}
