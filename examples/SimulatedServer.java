import dev.gyre.*;
import dev.gyre.io.*;
import dev.gyre.testkit.*;

/// Takes messages, each a byte that says how long it is and so much text, and sends them back in capitals.
void serve(EventLoop loop, int port) {
    var listener = Sockets.listen(loop, new InetSocketAddress("localhost", port));
    Operations.on(loop).acceptEach(listener, op -> new Talk(loop, op.accepted())).start();
}

class Talk {
    final Buffer in = Buffer.allocate(1024), out = Buffer.allocate(1024);
    final Operation read, write;
    final Timer idle;

    Talk(EventLoop loop, Descriptor client) {
        idle = loop.after(Duration.ofSeconds(30), timer -> client.close());
        read = Operations.on(loop).read(client, in, op -> heard(op.result(), client));
        write = Operations.on(loop).write(client, out, op -> read.start());
        read.start();
    }

    void heard(long bytes, Descriptor client) {
        if (bytes <= 0) {
            idle.cancel();
            client.close();
            return;
        }
        idle.reschedule(Duration.ofSeconds(30));
        out.clear();
        while (in.readable() > 0 && in.readable() > in.peek(0)) { // A whole message.
            out.put(in.peek(0));
            for (int i = in.get(); i > 0; i--) out.put((byte) Character.toUpperCase(in.get()));
        }
        in.compact();
        (out.readable() > 0 ? write : read).start();
    }
}

void main() {
    try (var world = SimulatedWorld.seed(42)) {
        serve(world.loop(), 80);
        var client = world.connect(80).send("\5hello\3you");
        world.run();
        IO.println("received: " + client.receivedText().replaceAll("\\p{Cntrl}", " "));
        world.advance(Duration.ofSeconds(29));
        IO.println("open after 29 s: " + client.isOpen());
        world.advance(Duration.ofSeconds(2));
        IO.println("closed after 31 s: " + client.isClosed());
    }
    SimulatedWorld.eachSeed(1_000, world -> survive(world.faults(Faults.harmless())));
    IO.println("the same in a thousand worlds");
}

void survive(SimulatedWorld world) {
    serve(world.loop(), 80);
    var client = world.connect(80).send("\5hello\3you").halfClose();
    world.run();
    assert client.receivedText().equals("\5HELLO\3YOU") : client;
}
