package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// An echo server, peers that send in bulk as fast as it takes it, and a light peer whose echoes must not
/// wait for theirs. The peers are sockets of the real kernel, driven by the loop itself: what is counted
/// are ticks.
public abstract class BulkPeersContract extends StreamFixture {
    /// Echoes that a light peer waits for, and the ticks that one may take: a few more than one tick for
    /// each step of the way, and not as many as one for each bulk peer.
    private static final int ECHOES = 60;

    private static final int MAX_TICKS = 8;

    @ParameterizedTest
    @ValueSource(ints = {8, 32})
    @Clause("N-6")
    void lightPeer_besidePeersThatSendInBulk_isServedWithinAFewTicks(int bulkPeers)
            throws IOException {
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT,
                        stream -> stream.onData(stream::write));
        List<SocketChannel> bulk = new ArrayList<>();
        List<Long> ticks = new ArrayList<>();
        try {
            for (int i = 0; i < bulkPeers; i++) {
                bulk.add(connected());
            }
            new LightPeer(bulk, ticks).onTick();
            loop.run();
        } finally {
            for (SocketChannel channel : bulk) {
                channel.close();
            }
        }
        assertThat(ticks).hasSize(ECHOES).allMatch(each -> each <= MAX_TICKS);
    }

    private SocketChannel connected() throws IOException {
        SocketChannel channel = SocketChannel.open(address());
        channel.configureBlocking(false);
        return channel;
    }

    /// Sends as much as the bulk peers can get rid of in every tick, and a few bytes as a light one,
    /// which is a new connection every third time.
    private final class LightPeer {
        private final List<SocketChannel> bulk;
        private final List<Long> ticks;
        private final ByteBuffer flood = ByteBuffer.allocateDirect(1 << 18);
        private final ByteBuffer sink = ByteBuffer.allocateDirect(1 << 18);
        private SocketChannel light;
        private long sentAt;
        private int received;

        LightPeer(List<SocketChannel> bulk, List<Long> ticks) throws IOException {
            this.bulk = bulk;
            this.ticks = ticks;
            light = connected();
            ask();
        }

        private void ask() throws IOException {
            received = 0;
            sentAt = loop.metrics().ticks();
            light.write(ByteBuffer.allocate(64));
        }

        void onTick() {
            try {
                for (SocketChannel channel : bulk) {
                    int sent = channel.write(flood.clear());
                    int got = channel.read(sink.clear());
                    assertThat(sent + got).isNotNegative();
                }
                received += light.read(sink.clear());
                if (received == 64) {
                    next();
                }
                if (loop.metrics().ticks() - sentAt > 100) {
                    light.close();
                    loop.stop(); // Starved.
                } else if (ticks.size() < ECHOES) {
                    loop.defer(this::onTick);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void next() throws IOException {
            ticks.add(loop.metrics().ticks() - sentAt);
            if (ticks.size() == ECHOES) {
                light.close();
                loop.stop();
                return;
            }
            if (ticks.size() % 3 == 0) {
                light.close();
                light = connected();
            }
            ask();
        }
    }
}
