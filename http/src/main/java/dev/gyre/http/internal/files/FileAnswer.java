package dev.gyre.http.internal.files;

import dev.gyre.Promise;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.Response;
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
        Response response = exchange.response();
        boolean isGet = method.equals("GET");
        // A handler that answers with a file in another case than the usual one wants all of it.
        boolean usual = response.status() == 200 && (isGet || method.equals("HEAD"));
        Headers headers = exchange.request().headers();
        boolean ranged = usual && isGet && headers.contains("Range");
        // Parts of what was compressed are of no use to anybody.
        FileForm packed = gzip && !ranged ? file.gzip : null;
        FileForm form = packed != null ? packed : file.plain;
        // Conditions are about what is sent: what a handler has set goes before what is known of
        // the file.
        String etag = etag(response, form, packed != null);
        long modified = modified(response, file);
        if (usual) {
            switch (Conditions.check(headers, etag, modified)) {
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
            // What a handler says of a file that may change again this second is not about each
            // byte.
            long exact = file.isSettled() ? modified : HttpDates.NONE;
            boolean once = headers.all("If-Range").size() <= 1;
            if (once && Conditions.isSame(headers.get("If-Range"), etag, exact)) {
                return ranges(exchange, file, ByteRanges.of(range, form.length()));
            }
        }
        return whole(exchange, file, form);
    }

    /// The tag that is sent: one that a handler has set is of the file as it is, and of what gzip makes of it only a weak one.
    private static String etag(Response response, FileForm form, boolean packed) {
        String own = response.header("ETag");
        if (own == null) {
            return form.etag();
        }
        if (packed && !own.startsWith(Conditions.WEAK)) {
            own = Conditions.WEAK + own;
            response.header("ETag", own);
        }
        return own;
    }

    private static long modified(Response response, CachedFile file) {
        String own = response.header("Last-Modified");
        if (own != null) {
            return HttpDates.read(own);
        }
        return file.isSettled() ? file.modified : HttpDates.NONE;
    }

    private Promise<?> whole(FileExchange exchange, CachedFile file, FileForm form) {
        byte[] content = form.content();
        return content != null
                ? exchange.send(form.head(), content)
                : part(exchange, file, form, form.head(), new ByteRanges.Part(0, form.length()));
    }

    private Promise<?> ranges(FileExchange exchange, CachedFile file, ByteRanges ranges) {
        FileForm form = file.plain;
        return switch (ranges.kind()) {
            case WHOLE -> whole(exchange, file, form);
            case NOWHERE -> exchange.nowhere(form.length(), file.varies);
            case PARTS -> {
                if (ranges.parts().size() > 1) {
                    yield several(exchange, file, ranges);
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

    private Promise<?> several(FileExchange exchange, CachedFile file, ByteRanges ranges) {
        Response response = exchange.response();
        if (response.header("Content-Encoding") != null) {
            // It would be said of the lines between the parts as well.
            return whole(exchange, file, file.plain);
        }
        // A type that a handler has set is that of the parts. The whole has its own, without which
        // nobody could take it apart.
        String own = response.header("Content-Type");
        String type = own == null ? file.plain.head().type() : own;
        Multipart.Message message = multipart.of(file.plain, type, ranges.parts());
        if (own != null) {
            response.type(message.head().type());
        }
        return parts(exchange, file, message);
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
            exchange.complete(0);
        } else {
            Sending sending = new Sending(cache, exchange, file, form, stream);
            sending.send(part, sending::complete);
        }
        return exchange.begun();
    }

    private Promise<?> parts(FileExchange exchange, CachedFile file, Multipart.Message message) {
        FileForm form = file.plain;
        if (form.content() != null) {
            return exchange.send(message.head(), message.content(form.content()));
        }
        Stream stream = exchange.begin(message.head(), message.length());
        next(new Sending(cache, exchange, file, form, stream), message, 0);
        return exchange.begun();
    }

    private static void next(Sending sending, Multipart.Message message, int at) {
        sending.write(message.before(at));
        if (at == message.parts().size()) {
            sending.complete();
        } else {
            sending.send(message.parts().get(at), () -> next(sending, message, at + 1));
        }
    }
}
