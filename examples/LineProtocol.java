/// Responds to each line. After `take 5`, another protocol consumes five arbitrary bytes.
import static dev.gyre.os.Signal.*;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.io.*;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 7777;
    try (var loop = EventLoop.open()) {
        var address = new InetSocketAddress("localhost", port);
        var server = Listener.tcp(loop, address, stream -> stream.protocol(new Lines()));
        Signals.on(loop, SIGINT, SIGTERM, signal -> stop(server, loop));
        IO.println("listening on " + server.address());
        loop.run();
    }
}

void stop(Listener server, EventLoop loop) {
    server.drain(Duration.ofSeconds(5)).thenAccept(report -> loop.shutdown(Duration.ofSeconds(1)));
}

static final class Lines implements Protocol {
    @Override
    public void onData(Stream stream, Buffer data) {
        for (int end = data.indexOf((byte) '\n'); end >= 0; end = data.indexOf((byte) '\n')) {
            String line = data.getText(end + 1, UTF_8);
            if (line.startsWith("take ")) {
                stream.protocol(new Bytes(Integer.parseInt(line.substring(5).strip()), this));
                return; // The rest belongs to the next protocol.
            }
            stream.write(line.toUpperCase(Locale.ROOT));
        }
    } // An incomplete line stays unread and is delivered again.

    @Override
    public void onEnd(Stream stream) {
        stream.write("without an end: '" + stream.unread().getText(UTF_8) + "'\n");
        stream.end();
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        IO.println("closed: " + reason);
    }
}

/// Consumes a number of bytes and returns to the previous protocol.
record Bytes(int count, Protocol next) implements Protocol {
    @Override
    public void onData(Stream stream, Buffer data) {
        if (data.readable() >= count) {
            data.skip(count);
            stream.write("took " + count + " bytes\n");
            stream.protocol(next);
        }
    }
}
