package dev.gyre.http.internal.server;

import dev.gyre.http.Headers;
import dev.gyre.http.Response;
import dev.gyre.http.internal.coding.AcceptEncoding;
import dev.gyre.http.internal.coding.GzipCoder;
import dev.gyre.http.internal.coding.GzipCoders;
import dev.gyre.http.internal.coding.MediaTypes;

import org.jspecify.annotations.Nullable;

import java.util.Locale;

/// Compresses what is worth it for those who take it.
///
/// Any loop's thread, several at a time.
public final class GzipEncoding implements Encoding {
    /// A stream holds its coder for as long as it lasts: more of them go uncompressed.
    private static final int MOST_CODERS = 1_024;

    /// More than that would keep the loop busy for too long.
    private static final int MOST_BYTES = 1 << 20;

    private final GzipCoders coders;
    private final int leastBytes;

    /// @param level from 1 to 9
    public GzipEncoding(int level, int leastBytes) {
        coders = new GzipCoders(level, MOST_CODERS);
        this.leastBytes = leastBytes;
    }

    /// Has a response compressed, if it turns out to be worth it.
    public void applyTo(Response response) {
        ((ServerResponse) response).encode(this);
    }

    /// How many are at work, for tests.
    public int inUse() {
        return coders.inUse();
    }

    @Override
    public byte[] whole(Headers request, ResponseState response, String type, byte[] content) {
        if (content.length < leastBytes
                || content.length > MOST_BYTES
                || !isAsked(request, response, type)) {
            return content;
        }
        GzipCoder coder = coders.tryTake();
        if (coder == null) {
            return content;
        }
        byte[] smaller;
        try {
            smaller = coder.whole(content);
        } finally {
            coders.giveBack(coder);
        }
        if (smaller.length >= content.length) {
            return content;
        }
        say(response);
        return smaller;
    }

    @Override
    public @Nullable Filter streamed(Headers request, ResponseState response, String type) {
        if (!isAsked(request, response, type)) {
            return null;
        }
        GzipCoder coder = coders.tryTake();
        if (coder == null) {
            return null;
        }
        try {
            say(response);
        } catch (IllegalArgumentException e) {
            coders.giveBack(coder); // The header is as long as it may be already.
            throw e;
        }
        // An event is meant to arrive when it is sent, not when enough of them have come together.
        boolean eager = type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
        return new Streamed(coder, eager);
    }

    private static boolean isAsked(Headers request, ResponseState response, String type) {
        int status = response.status();
        String caching = response.header("Cache-Control");
        if (status == 206
                || Status.isWithoutContent(status)
                || !MediaTypes.isCompressible(type)
                || response.header("Content-Encoding") != null
                || (caching != null && caching.toLowerCase(Locale.ROOT).contains("no-transform"))) {
            return false;
        }
        // Also for those who get it as it is: a cache between must not give it to others.
        response.addHeader("Vary", "Accept-Encoding");
        return AcceptEncoding.takesGzip(request);
    }

    private static void say(ResponseState response) {
        response.header("Content-Encoding", "gzip");
        String etag = response.header("ETag");
        if (etag != null && !etag.startsWith("W/")) {
            // The bytes are others now; what they mean is the same.
            response.header("ETag", "W/" + etag);
        }
    }

    private final class Streamed implements Filter {
        private final GzipCoder coder;
        private final boolean eager;

        Streamed(GzipCoder coder, boolean eager) {
            this.coder = coder;
            this.eager = eager;
        }

        @Override
        public byte[] filter(byte[] content, int length) {
            return coder.next(content, length, eager);
        }

        @Override
        public byte[] flush() {
            return coder.flush();
        }

        @Override
        public byte[] end() {
            try {
                return coder.end();
            } finally {
                coders.giveBack(coder);
            }
        }

        @Override
        public void giveUp() {
            coders.giveBack(coder);
        }
    }
}
