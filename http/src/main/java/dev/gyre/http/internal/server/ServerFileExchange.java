package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.internal.files.FileExchange;
import dev.gyre.http.internal.files.FileHead;
import dev.gyre.io.Stream;

import java.util.List;

/// An exchange whose response is a file.
///
/// Loop thread only.
record ServerFileExchange(
        Exchange exchange, int generation, Request request, ServerResponse response)
        implements FileExchange {
    ServerFileExchange(Exchange exchange, ServerResponse response) {
        this(exchange, exchange.generation(), new ServerRequest(exchange), response);
    }

    @Override
    public String path() {
        return exchange.head.rawPath();
    }

    @Override
    public boolean isEnded() {
        return !exchange.isCurrent(generation) || response.isReplaced();
    }

    @Override
    public Promise<?> send(FileHead head, byte[] content) {
        // An empty response has no Content-Type, but an empty file has.
        if (content.length == 0
                && head.status() == 200
                && response.header("Content-Type") == null) {
            response.header("Content-Type", head.type());
        }
        prepare(head);
        return exchange.response.sendAsIs(head.typeLine(), content);
    }

    @Override
    public Promise<?> rangeNotSatisfiable(long length, boolean varies) {
        exchange.response.restart();
        if (varies) {
            response.header("Vary", "Accept-Encoding");
        }
        return response.status(416)
                .header("Content-Range", "bytes */" + length)
                .text("the file has " + length + " bytes\n");
    }

    @Override
    public Stream begin(FileHead head, long length) {
        prepare(head);
        return exchange.response.beginWith(head.typeLine(), length).stream();
    }

    private void prepare(FileHead head) {
        ResponseState response = exchange.response;
        if (head.status() != 200) {
            response.status(head.status());
        }
        if (!response.hasHeaders()) {
            response.prepare(head.lines());
            return;
        }
        // Headers of the handler or of middleware have precedence.
        List<String> headers = head.headers();
        for (int i = 0; i < headers.size(); i += 2) {
            String name = headers.get(i);
            if (name.equals("Vary") || response.header(name) == null) {
                response.addHeader(name, headers.get(i + 1));
            }
        }
    }

    @Override
    public boolean hasBody() {
        return exchange.response.hasBody();
    }

    @Override
    public void complete(long sent) {
        long announced = exchange.response.bodyBytes();
        if (sent != announced) {
            abort();
            throw new IllegalStateException(
                    "a response of " + announced + " bytes cannot end after " + sent);
        }
        exchange.response.complete();
    }

    @Override
    public void abort() {
        exchange.connection().truncate(exchange);
    }

    @Override
    public Promise<?> begun() {
        return exchange.context.done;
    }
}
