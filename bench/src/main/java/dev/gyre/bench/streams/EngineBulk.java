package dev.gyre.bench.streams;

import dev.gyre.bench.echo.Announcement;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;

import javax.net.ssl.SSLContext;

/// A bulk transfer over TLS with the JDK's engine and a blocking channel:
/// `EngineBulk receive|send BUFFER-BYTES PKCS12`. [Bulk] defines the protocol.
public final class EngineBulk {
    private EngineBulk() {}

    public static void main(String[] args) throws IOException, GeneralSecurityException {
        String part = args.length == 3 ? args[0] : "";
        if (!part.equals("receive") && !part.equals("send")) {
            System.err.println("usage: EngineBulk receive|send BUFFER-BYTES PKCS12");
            System.exit(2);
        }
        int bufferBytes = Integer.parseInt(args[1]);
        SSLContext context = Contexts.server(Path.of(args[2]));
        try (var listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Announcement.listening(((InetSocketAddress) listener.getLocalAddress()).getPort());
            while (true) {
                serve(listener.accept(), context, part, bufferBytes);
            }
        }
    }

    private static void serve(
            SocketChannel socket, SSLContext context, String part, int bufferBytes)
            throws IOException {
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        try (var channel = new EngineChannel(socket, Contexts.serverEngine(context), bufferBytes)) {
            channel.handshake();
            if (part.equals("receive")) {
                receive(channel, bufferBytes);
            } else {
                send(channel, bufferBytes);
            }
        } catch (EOFException _) {
            // The load generator is done.
        }
    }

    private static void receive(EngineChannel channel, int bufferBytes) throws IOException {
        ByteBuffer buffer = EngineChannel.plaintext(bufferBytes);
        ByteBuffer answer = ByteBuffer.allocateDirect(Bulk.LENGTH_BYTES);
        long total = 0;
        long left = 0;
        while (true) {
            channel.read(buffer);
            buffer.flip();
            while (left > 0 ? buffer.hasRemaining() : buffer.remaining() >= Bulk.LENGTH_BYTES) {
                if (left == 0) {
                    total = left = buffer.getLong();
                }
                int bytes = (int) Math.min(left, buffer.remaining());
                buffer.position(buffer.position() + bytes);
                left -= bytes;
                if (left == 0) {
                    channel.write(answer.clear().putLong(total).flip());
                }
            }
            buffer.compact();
        }
    }

    private static void send(EngineChannel channel, int bufferBytes) throws IOException {
        ByteBuffer chunk = Bulk.chunk(bufferBytes);
        ByteBuffer requests = EngineChannel.plaintext(bufferBytes);
        while (true) {
            while (requests.position() < Bulk.LENGTH_BYTES) {
                channel.read(requests);
            }
            requests.flip();
            long left = requests.getLong();
            requests.compact();
            while (left > 0) {
                chunk.clear().limit((int) Math.min(left, bufferBytes));
                left -= chunk.remaining();
                channel.write(chunk);
            }
        }
    }
}
