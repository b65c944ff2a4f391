package dev.gyre.bench.streams;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;

import javax.net.ssl.SSLEngine;

/// The other end of a bulk transfer over TLS, like `bulk-load.c` without TLS:
/// `TlsLoad receive|send PORT PID[,PID...] WARM-UP-BYTES BYTES SUITE`. The word is the server's
/// role. Compares every received byte, and prints the [ProcessClocks] of the transfer of BYTES.
public final class TlsLoad {
    private static final int BUFFER_BYTES = 65_536;

    private final EngineChannel channel;

    private final ByteBuffer buffer = EngineChannel.plaintext(BUFFER_BYTES);

    /// Larger than a buffer, so that a full buffer is available at any offset.
    private final ByteBuffer pattern = Bulk.chunk(BUFFER_BYTES + 2 * Bulk.PATTERN_BYTES);

    private TlsLoad(EngineChannel channel) {
        this.channel = channel;
    }

    /// Unmeasured connections for the warm-up. The kernel gives a connection with a slow receiver,
    /// such as a cold JVM, socket buffers of megabytes, which it keeps. Bytes then leave the caches
    /// before they are read.
    private static final int WARM_UPS = 4;

    public static void main(String[] args) throws IOException, GeneralSecurityException {
        if (args.length != 6) {
            System.err.println(
                    "usage: TlsLoad receive|send PORT PID[,PID...] WARM-UP-BYTES BYTES SUITE");
            System.exit(2);
        }
        ProcessClocks clocks = ProcessClocks.of(args[2]);
        var to = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]));
        long warmUp = Long.parseLong(args[3]);
        for (int i = 0; i < WARM_UPS; i++) {
            try (EngineChannel channel = connect(to, args[5])) {
                new TlsLoad(channel).transfer(args[0], warmUp / WARM_UPS + 1);
            }
        }
        try (EngineChannel channel = connect(to, args[5])) {
            var load = new TlsLoad(channel);
            load.transfer(args[0], BUFFER_BYTES);
            ProcessClocks.Reading begun = clocks.readAtRest().fromNow();
            load.transfer(args[0], Long.parseLong(args[4]));
            System.out.println(clocks.readAtRest().since(begun));
        }
    }

    private static EngineChannel connect(InetSocketAddress to, String suite)
            throws IOException, GeneralSecurityException {
        SSLEngine engine = Contexts.clientEngine(Contexts.client(), suite);
        SocketChannel socket = SocketChannel.open(to);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        var channel = new EngineChannel(socket, engine, BUFFER_BYTES);
        channel.handshake();
        return channel;
    }

    private void transfer(String part, long bytes) throws IOException {
        switch (part) {
            case "receive" -> push(bytes);
            case "send" -> pull(bytes);
            default -> throw new IllegalArgumentException("neither receive nor send: " + part);
        }
    }

    private void announce(long bytes) throws IOException {
        channel.write(buffer.clear().putLong(bytes).flip());
        buffer.clear();
    }

    private void push(long bytes) throws IOException {
        announce(bytes);
        for (long left = bytes; left > 0; ) {
            pattern.clear().limit((int) Math.min(left, BUFFER_BYTES));
            left -= pattern.remaining();
            channel.write(pattern);
        }
        while (buffer.position() < Bulk.LENGTH_BYTES) {
            channel.read(buffer);
        }
        long received = buffer.flip().getLong();
        if (received != bytes || buffer.hasRemaining()) {
            throw new IOException("the server got " + received + " bytes of " + bytes);
        }
    }

    private void pull(long bytes) throws IOException {
        announce(bytes);
        for (long received = 0; received < bytes; ) {
            channel.read(buffer);
            buffer.flip();
            int offset = (int) (received % Bulk.PATTERN_BYTES);
            pattern.limit(offset + buffer.remaining()).position(offset);
            if (!buffer.equals(pattern)) {
                throw new IOException(
                        "something else came than should have, after byte " + received);
            }
            received += buffer.remaining();
            buffer.clear();
            if (received > bytes) {
                throw new IOException(received + " bytes came instead of " + bytes);
            }
        }
    }
}
