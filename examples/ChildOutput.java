/// Reads a child's output as it arrives: a million bytes through `cat` and back. No side blocks on
/// a full pipe, because only the loop waits.
import dev.gyre.EventLoop;
import dev.gyre.WatchSpec;
import dev.gyre.io.Descriptor;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Command;
import dev.gyre.os.Stdio;

final ByteBuffer there = ByteBuffer.wrap("0123456789".repeat(100_000).getBytes());
final ByteBuffer back = ByteBuffer.allocate(there.capacity() + 1);

void main() {
    try (var loop = EventLoop.open()) {
        var command = Command.of("cat").withInput(Stdio.PIPE).withOutput(Stdio.PIPE);
        var cat = ChildProcess.start(loop, command).onExit(exit -> IO.println("cat " + exit));
        loop.watch(
                cat.input(),
                WatchSpec.writing(watcher -> feed(watcher.descriptor()))
                        .onError(
                                watcher ->
                                        watcher.descriptor()
                                                .close())); // The child closed its input.
        loop.watch(cat.output(), WatchSpec.reading(watcher -> collect(watcher.descriptor())));
        loop.runUntilEmpty(); // Until the output has ended and the child has exited.
    }
}

void feed(Descriptor input) {
    input.write(there);
    if (!there.hasRemaining()) {
        input.close(); // End of input.
    }
}

void collect(Descriptor output) {
    if (output.read(back) == Descriptor.END) {
        output.close();
        boolean same = back.flip().equals(there.rewind());
        IO.println(back.limit() + " bytes came back, " + (same ? "the same" : "others"));
    }
}
