package dev.gyre.testkit;

import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/// Echoes input, for tests: one read and one write at a time per connection.
final class EchoServer {
    private final Operations operations;
    private final Descriptor listener;
    final List<Descriptor> connections = new ArrayList<>();
    final List<String> failures = new ArrayList<>();

    EchoServer(EventLoop loop, int port) {
        operations = Operations.on(loop);
        listener =
                Sockets.listen(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        acceptNext();
    }

    private void acceptNext() {
        operations
                .accept(
                        listener,
                        op -> {
                            if (op.result() >= 0) {
                                serve(op.accepted());
                            } else {
                                failures.add("accept " + op.failure());
                            }
                            if (!op.isCancelled()) {
                                op.start();
                            }
                        })
                .start();
    }

    private void serve(Descriptor connection) {
        connections.add(connection);
        Buffer buffer = Buffer.allocate(2_000);
        Operation[] read = new Operation[1];
        Operation write =
                operations.write(
                        connection,
                        buffer,
                        op -> {
                            if (op.result() < 0) {
                                end(connection, op);
                            } else {
                                buffer.clear();
                                read[0].start();
                            }
                        });
        read[0] =
                operations.read(
                        connection,
                        buffer,
                        op -> {
                            if (op.result() <= 0) {
                                end(connection, op);
                            } else {
                                write.start();
                            }
                        });
        read[0].start();
    }

    private void end(Descriptor connection, Operation op) {
        if (op.result() < 0) {
            failures.add(String.valueOf(op.failure()));
        }
        connections.remove(connection);
        connection.close();
    }

    void close() {
        listener.close();
    }
}
