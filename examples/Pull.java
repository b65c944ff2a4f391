/// Reads with promises: first the length of the response, then all of it.
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

void main() {
    try (var loop = EventLoop.open()) {
        var server = Listener.tcp(loop, new InetSocketAddress("localhost", 0), this::answer);
        Stream.connect(loop, server.address())
                .thenCompose(stream -> ask(stream, "who are you?"))
                .recover(failure -> "no response: " + failure.getMessage())
                .thenAccept(IO::println)
                .finallyRun(loop::stop);
        loop.run();
    }
}

Promise<String> ask(Stream stream, String question) {
    stream.write(question + "\n");
    return stream.read(Integer.BYTES)
            .thenCompose(head -> stream.read(head.getInt()))
            .then(body -> body.getText(UTF_8))
            .finallyRun(stream::close);
}

void answer(Stream stream) {
    stream.onData(
            question -> {
                var answer = ("you asked " + question.getText(UTF_8).strip()).getBytes(UTF_8);
                stream.write(ByteBuffer.allocate(4).putInt(answer.length).flip());
                stream.write(answer);
            });
}
