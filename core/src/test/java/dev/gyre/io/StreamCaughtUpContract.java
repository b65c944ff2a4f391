package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Collections;

/// Catching up with what has arrived, from a peer whose bytes are with the kernel when its calls return.
public abstract class StreamCaughtUpContract extends StreamFixture {
    private SocketChannel connectDirectly() throws IOException {
        listen(ListenerConfig.DEFAULT);
        SocketChannel peer = SocketChannel.open(listener.address());
        runUntil("accepted", () -> server != null);
        return peer;
    }

    private void noteWhenCaughtUp() {
        server.inputDelivered().then(_ -> events.add("caught up"), why -> events.add("" + why));
    }

    @Test
    @Clause("N-2")
    void caughtUp_withBytesInTheKernel_isKeptBehindThem() throws IOException {
        try (SocketChannel peer = connectDirectly()) {
            record("s", server);
            for (int i = 0; i < 3; i++) {
                settle(); // It receives by now.
                peer.write(ByteBuffer.wrap("x".repeat(100_000).getBytes(US_ASCII)));
                noteWhenCaughtUp();
                int told = i + 1;
                runUntil("told", () -> Collections.frequency(events, "caught up") == told);
                assertThat(server.received()).isEqualTo(100_000L * told);
            }
        }
    }

    @Test
    @Clause("N-2")
    void caughtUp_withNothingInTheKernel_isKept() throws IOException {
        try (SocketChannel peer = connectDirectly()) {
            record("s", server);
            noteWhenCaughtUp();
            noteWhenCaughtUp();
            runUntil("told", () -> events.size() == 2);
            peer.write(ByteBuffer.wrap("later".getBytes(US_ASCII)));
            awaitEvent("s later");
            assertThat(events).containsExactly("caught up", "caught up", "s later");
        }
    }

    @Test
    @Clause("N-2")
    void caughtUp_withAnEndInTheKernel_isKeptBehindIt() throws IOException {
        try (SocketChannel peer = connectDirectly()) {
            record("s", server);
            settle();
            peer.write(ByteBuffer.wrap("last".getBytes(US_ASCII)));
            peer.shutdownOutput();
            noteWhenCaughtUp();
            awaitEvent("caught up");
            assertThat(events).containsExactly("s last", "s end", "caught up");
            noteWhenCaughtUp();
            runUntil("told", () -> events.size() == 4);
        }
    }

    @Test
    @Clause("N-2")
    void caughtUp_whilePaused_waitsAndIsKeptBehindWhatCameMeanwhile() throws IOException {
        try (SocketChannel peer = connectDirectly()) {
            record("s", server);
            server.pause();
            peer.write(ByteBuffer.wrap("meanwhile".getBytes(US_ASCII)));
            noteWhenCaughtUp();
            settle();
            assertThat(events).isEmpty();
            server.resume();
            awaitEvent("caught up");
            assertThat(events).containsExactly("s meanwhile", "caught up");
        }
    }

    @Test
    @Clause("N-6")
    void caughtUp_ofAStreamThatIsClosed_isRejected() throws IOException {
        try (SocketChannel _ = connectDirectly()) {
            server.onData(Buffer::clear);
            Promise<?> under = server.inputDelivered();
            server.abort();
            assertThat(failure(under)).isInstanceOf(StreamClosedException.class);
            assertThat(failure(server.inputDelivered())).isInstanceOf(StreamClosedException.class);
        }
    }
}
