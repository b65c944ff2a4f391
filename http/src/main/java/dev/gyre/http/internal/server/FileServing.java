package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.internal.files.FileExchange;
import dev.gyre.http.internal.files.FileHead;
import dev.gyre.io.Stream;

import java.util.List;

/// An exchange as files see it.
///
/// Loop thread only.
record FileServing(Exchange exchange, int generation, Request request, Response response)
        implements FileExchange {
    FileServing(Exchange exchange) {
        this(
                exchange,
                exchange.generation(),
                new ServerRequest(exchange),
                new ServerResponse(exchange));
    }

    @Override
    public String path() {
        return exchange.rawPath();
    }

    @Override
    public boolean isOver() {
        return !exchange.isCurrent(generation);
    }

    @Override
    public Promise<?> send(FileHead head, byte[] content) {
        if (content.length == 0 && head.status() == 200) {
            // Of nothing an answer does not say what it is, but of a file, if it is empty.
            if (response.header("Content-Type") == null) {
                response.header("Content-Type", head.type());
            }
        }
        prepare(head);
        return exchange.response.sendAsIs(head.typeLine(), content);
    }

    @Override
    public Promise<?> nowhere(long length, boolean varies) {
        exchange.response.begin();
        if (varies) {
            response.header("Vary", "Accept-Encoding");
        }
        return response.status(416)
                .header("Content-Range", "bytes */" + length)
                .text("it has " + length + " bytes\n");
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
        if (!response.hasFields()) {
            response.prepare(head.lines());
            return;
        }
        // What a handler or a middleware has set goes first.
        List<String> fields = head.fields();
        for (int i = 0; i < fields.size(); i += 2) {
            String name = fields.get(i);
            if (name.equals("Vary") || response.header(name) == null) {
                response.addHeader(name, fields.get(i + 1));
            }
        }
    }

    @Override
    public boolean hasContent() {
        return exchange.response.hasContent();
    }

    @Override
    public void complete(long sent) {
        long announced = exchange.response.contentBytes();
        if (sent != announced) {
            cut();
            throw new IllegalStateException(
                    "an answer of " + announced + " bytes was to end after " + sent);
        }
        exchange.response.complete();
    }

    @Override
    public void cut() {
        exchange.connection().cutOff(exchange);
    }

    @Override
    public Promise<?> begun() {
        return exchange.bench.done;
    }
}
