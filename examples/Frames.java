/// Pooled memory: frames with a length prefix are written from the loop's buffers, and
/// read without copying.
import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

void main() {
    try (var loop = EventLoop.open()) {
        var pair = Sockets.pair(loop);
        var operations = Operations.on(loop);
        var input = Buffer.acquire(loop, 4096);
        operations.read(pair.get(1), input, op -> takeFrame(input)).start();
        send(loop, operations, pair.get(0), "hello".getBytes(StandardCharsets.UTF_8));
        loop.runUntilEmpty();
        IO.println("bytes in use: " + loop.metrics().bufferMemory());
    }
}

void send(EventLoop loop, Operations operations, Descriptor socket, byte[] body) {
    var frame = Buffer.acquire(loop, Integer.BYTES + body.length).putInt(body.length).put(body);
    operations.write(socket, frame, op -> frame.release()).start();
}

void takeFrame(Buffer input) {
    var body = input.slice(input.getInt());
    input.release(); // The slice keeps the memory.
    IO.println("frame: " + body.getText(StandardCharsets.UTF_8));
    body.release(); // Returns the memory to the pool.
}
