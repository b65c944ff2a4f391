package dev.gyre.bench.echo;

import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/// An echo server with operations of a Gyre loop: one buffer and two operations per connection,
/// started in alternation.
public final class GyreEcho {
    private static final int BUFFER_BYTES = 4096;

    private GyreEcho() {}

    public static void main(String[] args) {
        String backend = args.length == 2 && args[0].equals("--backend") ? args[1] : "";
        switch (backend) {
            case "epoll", "io_uring" -> GyreServer.serve(backend, GyreEcho::listen);
            default -> {
                System.err.println("usage: GyreEcho --backend epoll|io_uring");
                System.exit(2);
            }
        }
    }

    private static int listen(EventLoop loop) {
        Operations operations = Operations.on(loop);
        Descriptor listener =
                Sockets.listen(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        operations
                .acceptEach(listener, op -> new Connection(operations, op.accepted()).read())
                .start();
        return ((InetSocketAddress) Sockets.localAddress(loop, listener)).getPort();
    }

    private static final class Connection {
        private final Descriptor socket;
        private final Buffer buffer = Buffer.allocate(BUFFER_BYTES);
        private final Operation reading;
        private final Operation writing;

        Connection(Operations operations, Descriptor socket) {
            this.socket = socket;
            reading = operations.read(socket, buffer, this::received);
            writing = operations.write(socket, buffer, this::sent);
        }

        void read() {
            reading.start();
        }

        private void received(Operation read) {
            if (read.result() > 0) {
                writing.start();
            } else {
                socket.close();
            }
        }

        private void sent(Operation write) {
            if (write.result() > 0) {
                buffer.clear();
                reading.start();
            } else {
                socket.close();
            }
        }
    }
}
