import dev.gyre.*;
import dev.gyre.io.*;
import dev.gyre.testkit.*;

/// Receives messages, each with one length byte and text, and sends them back in upper case.
void serve(EventLoop loop, int port) {
    var streams = StreamConfig.DEFAULT.withReadTimeout(Duration.ofSeconds(30));
    var config = ListenerConfig.DEFAULT.withStreams(streams);
    var address = new InetSocketAddress("localhost", port);
    Listener.on(loop, address, config, stream -> stream.onData(data -> respond(stream, data)));
}

void respond(Stream stream, Buffer data) {
    while (data.readable() > 0 && data.readable() > data.peek(0)) { // A whole message.
        byte length = data.get();
        String text = data.getText(length, StandardCharsets.US_ASCII);
        stream.write(new byte[] {length});
        stream.write(text.toUpperCase(Locale.ROOT));
    }
} // An incomplete message stays unread and is delivered again.

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
