package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.Response;
import dev.gyre.http.internal.files.ByteRanges.Part;
import dev.gyre.http.internal.files.CachedFile.Representation;
import dev.gyre.http.internal.message.HttpDate;
import dev.gyre.io.Descriptor;
import dev.gyre.io.Stream;

import java.io.ByteArrayOutputStream;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/// Responds with a file: the whole body, ranges of it, or 304.
///
/// Loop thread only.
final class FileResponder {
    private static final byte[] EMPTY = {};

    private final FileCache cache;

    /// The start of multipart boundaries. Random, so that no file can contain one on purpose.
    private final String boundaryPrefix;

    private long boundaries;

    FileResponder(FileCache cache) {
        this.cache = cache;
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        boundaryPrefix = HexFormat.of().formatHex(random);
    }

    /// @param acceptsGzip whether a compressed body may be sent
    Promise<?> respond(FileExchange exchange, CachedFile file, boolean acceptsGzip) {
        String method = exchange.request().method();
        Response response = exchange.response();
        boolean isGet = method.equals("GET");
        // A handler that sends a file with another status or method sends all of it.
        boolean isPlainFetch = response.status() == 200 && (isGet || method.equals("HEAD"));
        Headers headers = exchange.request().headers();
        boolean ranged = isPlainFetch && isGet && headers.contains("Range");
        // Clients cannot use parts of a compressed body.
        Representation gzip = acceptsGzip && !ranged ? file.gzip : null;
        Representation form = gzip != null ? gzip : file.plain;
        // Headers set by the handler override those of the file.
        String etag = etag(response, form, gzip != null);
        long modified = modified(response, file);
        if (isPlainFetch) {
            switch (Preconditions.check(headers, etag, modified)) {
                case NOT_MODIFIED -> {
                    return exchange.send(form.head().notModified(), EMPTY);
                }
                case FAILED ->
                        throw new HttpException(412, "the file does not match the precondition");
                case PROCEED -> {}
            }
        }
        if (ranged && headers.getAll("Range").size() == 1) {
            String range = Objects.requireNonNull(headers.get("Range"));
            // While the file may still change unnoticed, the handler's date proves nothing.
            long exact = file.isSettled ? modified : HttpDate.NONE;
            boolean once = headers.getAll("If-Range").size() <= 1;
            if (once && Preconditions.matchesRange(headers.get("If-Range"), etag, exact)) {
                return ranges(exchange, file, ByteRanges.of(range, form.length()));
            }
        }
        return whole(exchange, file, form);
    }

    /// Returns the tag to send. A tag set by the handler describes the plain file. On a compressed
    /// body it is weak.
    private static String etag(Response response, Representation form, boolean isGzip) {
        String own = response.header("ETag");
        if (own == null) {
            return form.etag();
        }
        if (isGzip && !own.startsWith(Preconditions.WEAK)) {
            own = Preconditions.WEAK + own;
            response.header("ETag", own);
        }
        return own;
    }

    private static long modified(Response response, CachedFile file) {
        String own = response.header("Last-Modified");
        if (own != null) {
            return HttpDate.parse(own);
        }
        return file.isSettled ? file.modified : HttpDate.NONE;
    }

    private Promise<?> whole(FileExchange exchange, CachedFile file, Representation form) {
        return form.body() != null
                ? exchange.send(form.head(), form.body())
                : part(exchange, file, form, form.head(), new Part(0, form.length()));
    }

    private Promise<?> ranges(FileExchange exchange, CachedFile file, ByteRanges ranges) {
        Representation form = file.plain;
        return switch (ranges.kind()) {
            case WHOLE -> whole(exchange, file, form);
            case UNSATISFIABLE -> exchange.rangeNotSatisfiable(form.length(), file.varies);
            case PARTS -> {
                if (ranges.parts().size() > 1) {
                    yield parts(exchange, file, ranges.parts());
                }
                Part part = ranges.parts().getFirst();
                FileHead head = form.head().ofPart(contentRange(part, form));
                yield form.body() == null
                        ? part(exchange, file, form, head, part)
                        : exchange.send(
                                head,
                                Arrays.copyOfRange(
                                        form.body(), (int) part.offset(), (int) part.last() + 1));
            }
        };
    }

    private static String contentRange(Part part, Representation form) {
        return "bytes " + part.offset() + "-" + part.last() + "/" + form.length();
    }

    private Promise<?> part(
            FileExchange exchange, CachedFile file, Representation form, FileHead head, Part part) {
        Stream stream = exchange.begin(head, part.bytes());
        if (!exchange.hasBody()) {
            exchange.complete(0);
        } else {
            Transfer transfer = new Transfer(exchange, file, form, stream);
            transfer.send(part, transfer::complete);
        }
        return exchange.begun();
    }

    // ------------------------------------------------------------------ multipart/byteranges

    private Promise<?> parts(FileExchange exchange, CachedFile file, List<Part> parts) {
        Representation form = file.plain;
        Response response = exchange.response();
        if (response.header("Content-Encoding") != null) {
            // It would apply to the delimiters too.
            return whole(exchange, file, form);
        }
        // A type set by the handler is that of each part. The message has its own type.
        String ownType = response.header("Content-Type");
        String boundary = boundaryPrefix + Long.toHexString(boundaries++);
        List<byte[]> delimiters =
                delimiters(form, ownType == null ? form.head().type() : ownType, boundary, parts);
        FileHead head = form.head().ofParts(boundary);
        if (ownType != null) {
            response.type(head.type());
        }
        long length = 0;
        for (byte[] delimiter : delimiters) {
            length += delimiter.length;
        }
        for (Part part : parts) {
            length += part.bytes();
        }
        if (form.body() == null) {
            Stream stream = exchange.begin(head, length);
            sendParts(new Transfer(exchange, file, form, stream), parts, delimiters, 0);
            return exchange.begun();
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream((int) length);
        for (int i = 0; i < parts.size(); i++) {
            body.writeBytes(delimiters.get(i));
            body.write(form.body(), (int) parts.get(i).offset(), (int) parts.get(i).bytes());
        }
        body.writeBytes(delimiters.getLast());
        return exchange.send(head, body.toByteArray());
    }

    /// Returns the bytes before each part, and those after the last.
    private static List<byte[]> delimiters(
            Representation form, String type, String boundary, List<Part> parts) {
        List<byte[]> delimiters = new ArrayList<>();
        String start = "--";
        for (Part part : parts) {
            String lines =
                    start
                            + boundary
                            + "\r\nContent-Type: "
                            + type
                            + "\r\nContent-Range: "
                            + contentRange(part, form)
                            + "\r\n\r\n";
            delimiters.add(lines.getBytes(UTF_8));
            start = "\r\n--";
        }
        delimiters.add((start + boundary + "--\r\n").getBytes(UTF_8));
        return delimiters;
    }

    private static void sendParts(
            Transfer transfer, List<Part> parts, List<byte[]> delimiters, int index) {
        transfer.write(delimiters.get(index));
        if (index == parts.size()) {
            transfer.complete();
        } else {
            transfer.send(
                    parts.get(index), () -> sendParts(transfer, parts, delimiters, index + 1));
        }
    }

    // ------------------------------------------------------------------ from the disk

    /// Sends an open file. It counts the bytes, so that no response ends early.
    private final class Transfer {
        private final FileExchange exchange;
        private final CachedFile file;
        private final Representation form;
        private final Stream stream;
        private long sentBytes;

        /// @param form behind a descriptor
        Transfer(FileExchange exchange, CachedFile file, Representation form, Stream stream) {
            this.exchange = exchange;
            this.file = file;
            this.form = form;
            this.stream = stream;
        }

        void write(byte[] lines) {
            boolean _ = stream.write(lines);
            sentBytes += lines.length;
        }

        void complete() {
            exchange.complete(sentBytes);
        }

        /// Sends a part, then runs `next`. Closes the connection if the file has become shorter:
        /// the announced length cannot be sent.
        void send(Part part, Runnable next) {
            Descriptor descriptor = Objects.requireNonNull(form.file(), "the body is in memory");
            file.retain();
            Promise<Long> sent;
            try {
                sent = stream.sendFile(descriptor, part.offset(), part.bytes());
            } catch (RuntimeException e) {
                cache.release(file);
                throw e;
            }
            Promise<?> _ =
                    sent.then(
                            bytes -> {
                                sentBytes += bytes;
                                finish(bytes == part.bytes(), next);
                                return true;
                            },
                            _ -> {
                                finish(false, next);
                                return false;
                            });
        }

        private void finish(boolean all, Runnable next) {
            cache.release(file);
            if (exchange.isEnded()) {
                return;
            }
            if (all) {
                next.run();
            } else {
                exchange.abort();
            }
        }
    }
}
