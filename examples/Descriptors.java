/// Watches a descriptor, edge-triggered: one callback per change.
import dev.gyre.EventLoop;
import dev.gyre.WatchSpec;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Pipe;

final ByteBuffer buffer = ByteBuffer.allocateDirect(8);

void main() {
    try (var loop = EventLoop.open();
            var pipe = Pipe.open()) {
        loop.watch(
                pipe.reader(),
                WatchSpec.reading(watcher -> drain(watcher.descriptor())).edgeTriggered());
        send(pipe, "more than one buffer holds");
        loop.runOne();
        send(pipe, "and more");
        loop.runOne();

        loop.unwatch(pipe.reader());
        send(pipe, "not watched");
        IO.println("then " + loop.runUntilEmpty() + " callbacks");
    }
}

void send(Pipe pipe, String text) {
    pipe.writer().write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
}

/// Reads until empty: an edge is reported once.
void drain(Descriptor reader) {
    int bytes = 0;
    for (int count; (count = reader.read(buffer.clear())) > 0; ) {
        bytes += count;
    }
    IO.println("readable: " + bytes + " bytes");
}
