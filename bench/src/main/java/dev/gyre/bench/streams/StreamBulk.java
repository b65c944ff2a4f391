package dev.gyre.bench.streams;

import dev.gyre.EventLoop;
import dev.gyre.bench.echo.GyreServer;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.Tls;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Supplier;

/// A bulk transfer with Gyre's streams and default settings:
/// `StreamBulk --backend epoll|io_uring receive|write|lend BUFFER-BYTES [PKCS12]`, with TLS if a
/// key is given. [Bulk] defines the protocol. Output is written (copied) or lent, one full buffer
/// at a time. The stream determines how much it receives at a time.
public final class StreamBulk {
    private StreamBulk() {}

    public static void main(String[] args) throws IOException {
        if (args.length < 4 || args.length > 5 || !args[0].equals("--backend")) {
            throw usage();
        }
        int bufferBytes = Integer.parseInt(args[3]);
        Supplier<Protocol> protocol =
                switch (args[2]) {
                    case "receive" -> Receiver::new;
                    case "write" -> () -> new Writer(bufferBytes);
                    case "lend" -> () -> new Lender(bufferBytes);
                    default -> throw usage();
                };
        ListenerConfig config =
                args.length == 5
                        ? ListenerConfig.DEFAULT.withTls(
                                Tls.server(Path.of(args[4]), Contexts.PASSWORD.toCharArray()))
                        : ListenerConfig.DEFAULT;
        GyreServer.serve(args[1], loop -> listen(loop, config, protocol));
    }

    private static AssertionError usage() {
        System.err.println(
                "usage: StreamBulk --backend epoll|io_uring receive|write|lend BUFFER-BYTES"
                        + " [PKCS12]");
        System.exit(2);
        return new AssertionError("still here");
    }

    private static int listen(EventLoop loop, ListenerConfig config, Supplier<Protocol> protocol) {
        Listener listener =
                Listener.on(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        config,
                        stream -> stream.protocol(protocol.get()));
        return ((InetSocketAddress) listener.address()).getPort();
    }

    private static final class Receiver implements Protocol {
        // Loop thread only.
        private long total;
        private long left;

        @Override
        public void onData(Stream stream, Buffer data) {
            while (left > 0 ? data.readable() > 0 : data.readable() >= Bulk.LENGTH_BYTES) {
                if (left == 0) {
                    total = left = data.getLong();
                }
                int bytes = (int) Math.min(left, data.readable());
                data.skip(bytes);
                left -= bytes;
                if (left == 0) {
                    stream.write(ByteBuffer.allocate(Bulk.LENGTH_BYTES).putLong(total).flip());
                }
            }
        }
    }

    private static final class Writer implements Protocol {
        private final ByteBuffer chunk;

        // Loop thread only.
        private long left;

        Writer(int bufferBytes) {
            chunk = Bulk.chunk(bufferBytes);
        }

        @Override
        public void onData(Stream stream, Buffer data) {
            while (data.readable() >= Bulk.LENGTH_BYTES) {
                left += data.getLong();
            }
            onWritable(stream);
        }

        @Override
        public void onWritable(Stream stream) {
            boolean room = true;
            while (room && left > 0) {
                chunk.clear().limit((int) Math.min(left, chunk.capacity()));
                left -= chunk.remaining();
                room = stream.write(chunk);
            }
        }
    }

    /// Two buffers: the kernel sends one while the other is lent.
    private static final class Lender implements Protocol {
        private final Buffer[] buffers;

        // Loop thread only.
        private long left;
        private int free;

        Lender(int bufferBytes) {
            buffers =
                    new Buffer[] {
                        Buffer.allocate(bufferBytes).put(Bulk.chunk(bufferBytes)),
                        Buffer.allocate(bufferBytes).put(Bulk.chunk(bufferBytes))
                    };
            free = buffers.length;
        }

        @Override
        public void onData(Stream stream, Buffer data) {
            while (data.readable() >= Bulk.LENGTH_BYTES) {
                left += data.getLong();
            }
            lend(stream);
        }

        private void lend(Stream stream) {
            while (free > 0 && left > 0) {
                Buffer buffer = buffers[--free];
                // The contents are unchanged: no copy is needed.
                int bytes = (int) Math.min(left, buffer.capacity());
                buffer.clear().advance(bytes);
                left -= bytes;
                stream.lend(
                        buffer,
                        returned -> {
                            buffers[free++] = returned;
                            lend(stream);
                        });
            }
        }
    }
}
