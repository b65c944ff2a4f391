/// The lowest level: operations, created once per connection and reused. An echo and its client.
import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

void main() {
    try (var loop = EventLoop.open()) {
        var operations = Operations.on(loop);
        var listener = Sockets.listen(loop, new InetSocketAddress("localhost", 0));
        operations.acceptEach(listener, op -> new Echo(operations, op.accepted())).start();

        talk(loop, operations, Sockets.localAddress(loop, listener));
        loop.run();
    }
}

/// A connection: one buffer that alternates between a read and a write.
static final class Echo {
    final Buffer buffer = Buffer.allocate(4096);
    final Descriptor socket;
    final Operation read;
    final Operation write;

    Echo(Operations operations, Descriptor socket) {
        this.socket = socket;
        read = operations.read(socket, buffer, this::received);
        write = operations.write(socket, buffer, this::sent);
        read.start();
    }

    void received(Operation read) {
        if (read.result() > 0) {
            write.start();
        } else {
            socket.close(); // End of input, or an error.
        }
    }

    void sent(Operation write) {
        buffer.clear();
        read.start(); // Also after a failed write: the read completes with the error.
    }
}

/// The same with promises, for single operations.
void talk(EventLoop loop, Operations operations, SocketAddress server) {
    var socket = Sockets.stream(loop, server);
    var answer = Buffer.allocate(64);
    var question = Buffer.allocate(64).put("hello".getBytes(StandardCharsets.UTF_8));
    operations
            .connect(socket, server, op -> {})
            .startPromised()
            .thenCompose(_ -> operations.write(socket, question, op -> {}).startPromised())
            .thenCompose(_ -> operations.read(socket, answer, op -> {}).startPromised())
            .thenAccept(n -> IO.println(n + " bytes: " + answer.getText(StandardCharsets.UTF_8)))
            .finallyRun(loop::stop);
}
