package dev.gyre.http.internal.files;

import dev.gyre.Promise;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.io.Stream;

import java.util.Objects;

/// Answers with a file that is known: all of it, parts of it, or that the peer has it already.
///
/// Loop thread only.
final class FileAnswer {
    private static final byte[] NOTHING = {};

    private final FileCache cache;
    private final Multipart multipart = new Multipart();

    FileAnswer(FileCache cache) {
        this.cache = cache;
    }

    /// @param gzip whether the peer takes that
    Promise<?> with(FileExchange exchange, CachedFile file, boolean gzip) {
        String method = exchange.request().method();
        boolean isGet = method.equals("GET");
        // A handler that answers with a file in another case than the usual one wants all of it.
        boolean usual = exchange.response().status() == 200 && (isGet || method.equals("HEAD"));
        Headers headers = exchange.request().headers();
        boolean ranged = usual && isGet && headers.contains("Range");
        // What nobody has compressed yet is not for the sake of a head, which can be told all the
        // same.
        FileForm compressed = file.gzip == null && !isGet ? file.unmade : file.gzip;
        // Parts of what was compressed are of no use to anybody.
        FileForm form = gzip && compressed != null && !ranged ? compressed : file.plain;
        long modified = file.isSettled() ? file.modified : HttpDates.NONE;
        if (usual) {
            switch (Conditions.check(headers, form.etag(), modified)) {
                case NOT_MODIFIED -> {
                    return exchange.send(form.head().withStatus(304), NOTHING);
                }
                case FAILED ->
                        throw new HttpException(412, "it is not what the request takes it for");
                case GO_ON -> {}
            }
        }
        if (ranged && headers.all("Range").size() == 1) {
            String range = Objects.requireNonNull(headers.get("Range"));
            if (Conditions.isSame(headers.get("If-Range"), form.etag(), modified)) {
                return ranges(exchange, file, ByteRanges.of(range, form.length()));
            }
        }
        return whole(exchange, file, form);
    }

    private Promise<?> whole(FileExchange exchange, CachedFile file, FileForm form) {
        byte[] content = form.content();
        if (form.length() < 0) {
            Stream _ = exchange.begin(form.head(), form.length());
            exchange.complete();
            return exchange.begun();
        }
        return content != null
                ? exchange.send(form.head(), content)
                : part(exchange, file, form, form.head(), new ByteRanges.Part(0, form.length()));
    }

    private Promise<?> ranges(FileExchange exchange, CachedFile file, ByteRanges ranges) {
        FileForm form = file.plain;
        return switch (ranges.kind()) {
            case WHOLE -> whole(exchange, file, form);
            case NOWHERE ->
                    exchange.response()
                            .status(416)
                            .header("Content-Range", "bytes */" + form.length())
                            .text("it has " + form.length() + " bytes\n");
            case PARTS -> {
                if (ranges.parts().size() > 1) {
                    yield parts(exchange, file, multipart.of(form, ranges.parts()));
                }
                ByteRanges.Part part = ranges.parts().getFirst();
                FileHead head = form.head().ofPart(Multipart.contentRange(part, form.length()));
                byte[] content = form.content();
                yield content == null
                        ? part(exchange, file, form, head, part)
                        : exchange.send(head, Multipart.cut(content, part));
            }
        };
    }

    // ------------------------------------------------------------------ from the disk

    private Promise<?> part(
            FileExchange exchange,
            CachedFile file,
            FileForm form,
            FileHead head,
            ByteRanges.Part part) {
        Stream stream = exchange.begin(head, part.bytes());
        if (!exchange.hasContent()) {
            exchange.complete();
        } else {
            new Sending(cache, exchange, file, form, stream).send(part, exchange::complete);
        }
        return exchange.begun();
    }

    private Promise<?> parts(FileExchange exchange, CachedFile file, Multipart.Message message) {
        FileForm form = file.plain;
        if (form.content() != null) {
            return exchange.send(message.head(), message.content(form.content()));
        }
        Stream stream = exchange.begin(message.head(), message.length());
        next(exchange, new Sending(cache, exchange, file, form, stream), message, 0);
        return exchange.begun();
    }

    private static void next(
            FileExchange exchange, Sending sending, Multipart.Message message, int at) {
        sending.write(message.before(at));
        if (at == message.parts().size()) {
            exchange.complete();
        } else {
            sending.send(message.parts().get(at), () -> next(exchange, sending, message, at + 1));
        }
    }
}
