package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Clause N-6 as every backend keeps it: an echo server, peers that behave badly in every way, and one that behaves
/// well and must not notice.
public abstract class HostilePeersContract extends StreamFixture {
    private static final SocketOptions TIGHT =
            SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10);

    private static final StreamConfig SERVER =
            StreamConfig.DEFAULT
                    .withSocket(TIGHT)
                    .withWaterMarks(10_000, 40_000)
                    .withLingerTimeout(Duration.ofMillis(50));

    private final List<Stream> accepted = new ArrayList<>();
    private Stream good;
    private int answered;
    private int asked;

    @Override
    protected LoopConfig config() {
        return super.config().withBufferMemory(64 << 20);
    }

    /// How a peer behaves.
    enum Manner {
        ONE_BYTE_AT_A_TIME,
        NEVER_READS,
        RESETS_AT_ONCE,
        RESETS_AFTER_ASKING,
        RESETS_WITH_ANSWERS_UNREAD,
        ENDS_AT_ONCE,
        ENDS_AFTER_ASKING,
        ENDS_WITH_ANSWERS_UNREAD,
        CLOSES_WITHOUT_READING,
        SILENT
    }

    private void serve(StreamConfig config) {
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT.withStreams(config),
                        stream -> {
                            accepted.add(stream);
                            stream.onData(stream::write);
                        });
        good = outcome(Stream.connect(loop, listener.address()));
        StringBuilder got = new StringBuilder();
        good.onData(
                data -> {
                    got.append(data.getText(US_ASCII));
                    String next = "question " + answered + ";";
                    while (got.indexOf(next) == 0) {
                        got.delete(0, next.length());
                        answered++;
                        next = "question " + answered + ";";
                    }
                    assertThat(next).as("what the good peer gets back").startsWith(got);
                });
    }

    /// The good peer asks, and is answered.
    private void requireService() {
        good.write("question " + asked++ + ";");
        runUntil("the good peer is answered: " + good, () -> answered == asked);
    }

    private Stream peer() {
        StreamConfig config = StreamConfig.DEFAULT.withSocket(TIGHT);
        return outcome(Stream.connect(loop, listener.address(), config));
    }

    private Stream acceptedLast() {
        return accepted.getLast();
    }

    /// Lets a peer do what it does, and serves the good one meanwhile.
    private void act(Manner manner, Stream peer) {
        switch (manner) {
            case ONE_BYTE_AT_A_TIME -> {
                StringBuilder back = new StringBuilder();
                peer.onData(data -> back.append(data.getText(US_ASCII)));
                for (char each : "slowly".toCharArray()) {
                    peer.write(new byte[] {(byte) each});
                    requireService();
                }
                runUntil("all is back", () -> back.length() == 6);
                peer.end();
            }
            case NEVER_READS -> flood(peer);
            case RESETS_AT_ONCE -> peer.abort();
            case RESETS_AFTER_ASKING -> {
                peer.write("hello");
                requireService();
                peer.abort();
            }
            case RESETS_WITH_ANSWERS_UNREAD -> {
                flood(peer);
                peer.abort();
            }
            case ENDS_AT_ONCE -> {
                peer.onData(Buffer::clear);
                peer.end();
            }
            case ENDS_AFTER_ASKING -> {
                peer.write("hello");
                peer.onData(Buffer::clear);
                peer.end();
            }
            case ENDS_WITH_ANSWERS_UNREAD -> {
                flood(peer);
                peer.end();
                requireService();
                peer.onData(Buffer::clear);
            }
            case CLOSES_WITHOUT_READING -> {
                peer.write("hello");
                requireService();
                peer.close();
            }
            case SILENT -> requireService();
        }
    }

    /// Asks for more and more, and takes no answer.
    private void flood(Stream peer) {
        for (int i = 0; i < 60 && peer.isOpen(); i++) {
            if (peer.pending() < 100_000) {
                peer.write(new byte[10_000]);
            }
            requireService();
        }
    }

    private static CloseReason expected(Manner manner) {
        return switch (manner) {
            case ONE_BYTE_AT_A_TIME,
                    ENDS_AT_ONCE,
                    ENDS_AFTER_ASKING,
                    ENDS_WITH_ANSWERS_UNREAD,
                    CLOSES_WITHOUT_READING ->
                    CloseReason.ENDED;
            case NEVER_READS -> CloseReason.WRITE_TIMEOUT;
            case RESETS_AT_ONCE, RESETS_AFTER_ASKING, RESETS_WITH_ANSWERS_UNREAD ->
                    CloseReason.RESET;
            case SILENT -> CloseReason.IDLE_TIMEOUT;
        };
    }

    @ParameterizedTest
    @EnumSource
    @Clause("N-6")
    void peer_thatBehavesBadly_getsWhatItDeserves_andNobodyElseNotices(Manner manner) {
        serve(SERVER);
        requireService();
        Stream peer = peer();
        runUntil("accepted", () -> accepted.size() == 2);
        Stream stream = acceptedLast();
        act(manner, peer);
        // Only where they are expected, so that no other cause loses a race on a slow machine.
        switch (manner) {
            case NEVER_READS -> stream.writeTimeout(Duration.ofMillis(50));
            case SILENT -> stream.idleTimeout(Duration.ofMillis(50));
            default -> {}
        }
        awaitClosed(stream);
        assertThat(stream.closeReason()).isEqualTo(expected(manner));
        requireService();
        runUntil("only the good peer is left", () -> listener.connections() == 1);
        peer.abort();
        runUntil("all memory is back", () -> loop.metrics().bufferMemory() == 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Clause("N-6")
    void manyPeers_thatBehaveBadlyAtRandom_disturbNobody(long seed) {
        serve(SERVER);
        Random random = new Random(seed);
        List<Stream> peers = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            Stream peer = peer();
            peers.add(peer);
            runUntil("accepted", () -> accepted.size() == peers.size() + 1);
            act(Manner.values()[random.nextInt(Manner.values().length)], peer);
            requireService();
        }
        for (Stream stream : accepted.subList(1, accepted.size())) {
            stream.idleTimeout(Duration.ofMillis(50)).writeTimeout(Duration.ofMillis(50));
        }
        runUntil("only the good peer is left", () -> listener.connections() == 1);
        requireService();
        peers.forEach(Stream::abort);
        runUntil("all memory is back", () -> loop.metrics().bufferMemory() == 0);
    }

    @Test
    @Clause("N-6")
    void peers_thatNeverRead_holdNoMemoryThatOthersReceiveInto() {
        serve(SERVER);
        // More than there are receive buffers on the loop.
        List<Stream> peers = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            peers.add(peer());
        }
        runUntil("all are accepted", () -> accepted.size() == 301);
        for (int round = 0; round < 10; round++) {
            for (Stream peer : peers) {
                if (peer.pending() < 50_000) {
                    peer.write(new byte[20_000]);
                }
            }
            requireService();
        }
        peers.forEach(Stream::abort);
        runUntil("only the good peer is left", () -> listener.connections() == 1);
        requireService();
    }
}
