/// A server with endless output, and peers that do not read. Runs in a simulated world.
import dev.gyre.EventLoop;
import dev.gyre.io.*;
import dev.gyre.testkit.SimulatedWorld;

StreamConfig streams =
        StreamConfig.DEFAULT
                .withWaterMarks(64 << 10, 256 << 10) // false above 256 KiB, onWritable below 64.
                .withOutputLimit(1 << 20) // Beyond this the stream is closed.
                .withInputLimit(4 << 10) // The maximum size of an incomplete request.
                .withIdleTimeout(Duration.ofMinutes(10))
                .withWriteTimeout(Duration.ofSeconds(60));

ListenerConfig limits =
        ListenerConfig.DEFAULT
                .withStreams(streams)
                .withMaxConnections(10_000)
                .withMaxConnectionsPerPeer(100);

void serve(EventLoop loop, int port) {
    var address = new InetSocketAddress("localhost", port);
    Listener.on(loop, address, limits, stream -> new Chatter(stream).talk());
}

/// Writes as fast as the peer reads, at most the high-water mark ahead of it.
record Chatter(Stream stream, byte[] text) {
    Chatter(Stream stream) {
        this(stream, "all work and no play\n".repeat(100).getBytes(StandardCharsets.UTF_8));
        stream.onWritable(this::talk).onData(Buffer::clear);
        stream.onClose(reason -> IO.println("closed: " + reason));
    }

    void talk() {
        while (stream.write(text)) {}
    }
}

void main() {
    try (var world = SimulatedWorld.seed(42)) {
        serve(world.loop(), 80);
        var peer = world.connect(80);
        world.advance(Duration.ofMillis(20));
        IO.println("received megabytes: " + (peer.takeReceived().length > 2 << 20));
        peer.pauseReading();
        world.run();
        tellMemory(world.loop());
        world.advance(Duration.ofMinutes(2));
        tellMemory(world.loop());
    }
}

void tellMemory(EventLoop loop) {
    IO.println("waiting: " + (loop.metrics().bufferMemory() >> 10) + " KiB");
}
