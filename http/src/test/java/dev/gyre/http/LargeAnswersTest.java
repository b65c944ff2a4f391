package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Large answers to peers that do not read: what they cost, and who pays when there is no memory left.
@On("simulated")
class LargeAnswersTest {
    private static final int PORT = 80;
    private static final int LARGE = 1 << 20;
    private static final long MEMORY = 4L << 20;

    private final SimulatedWorld world =
            SimulatedWorld.seed(7, LoopConfig.DEFAULT.withBufferMemory(MEMORY)).socketBuffers(4096);
    private final HttpServer server = HttpServer.on(world.loop());
    private final byte[] large = new byte[LARGE];
    private final List<String> done = new ArrayList<>();

    LargeAnswersTest() {
        for (int i = 0; i < LARGE; i++) {
            large[i] = (byte) ((i * 31) >>> 3);
        }
        server.use(
                        (request, response, next) -> {
                            response.onComplete(
                                    () -> done.add(response.status() + " " + response.bodyBytes()));
                            return next.handle(request, response);
                        })
                .get("/large", (_, response) -> response.send(large))
                .get("/fresh", (_, response) -> response.send(large.clone()))
                .get(
                        "/failing",
                        (_, response) -> {
                            response.send(large);
                            throw new IllegalStateException("after its answer");
                        })
                .get("/middle", (_, response) -> response.send(new byte[40 << 10]))
                .get("/small", (_, response) -> response.send(new byte[10 << 10]))
                .get("/tiny", (_, response) -> response.text("tiny"))
                .listen(PORT);
    }

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer ask(String target, boolean reads) {
        SimulatedPeer peer = world.connect(PORT);
        if (!reads) {
            peer.pauseReading();
        }
        peer.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(5));
        return peer;
    }

    private List<SimulatedPeer> deaf(int count) {
        List<SimulatedPeer> peers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            peers.add(ask("/large", false));
        }
        return peers;
    }

    private long used() {
        return world.loop().metrics().bufferMemory();
    }

    private void requireNoReset() {
        assertThat(world.loop().metrics().streamsClosed(CloseReason.MEMORY_LIMIT))
                .as(
                        "connections that were reset for want of memory: ask before the head is"
                                + " written")
                .isZero();
    }

    private void requireWhole(SimulatedPeer peer) {
        byte[] got = peer.received();
        assertThat(got.length)
                .as(
                        "the head and all of the content: what is left has to follow when there is"
                                + " room")
                .isGreaterThan(LARGE);
        assertThat(Arrays.equals(got, got.length - LARGE, got.length, large, 0, LARGE))
                .as("the pieces in their order")
                .isTrue();
    }

    /// Takes what there is, and with all that the peer receives what its answer gave back.
    private List<Buffer> takeAllMemoryWith(SimulatedPeer peer) {
        List<Buffer> taken = new ArrayList<>();
        peer.onChange(_ -> takeAllMemory(taken));
        takeAllMemory(taken);
        return taken;
    }

    private static void giveBack(SimulatedPeer peer, List<Buffer> taken) {
        peer.onChange(_ -> {});
        taken.forEach(Buffer::release);
    }

    private void takeAllMemory(List<Buffer> taken) {
        for (int size = 64 << 10; size >= 4 << 10; size >>= 2) {
            for (Buffer some = Buffer.tryAcquire(world.loop(), size);
                    some != null;
                    some = Buffer.tryAcquire(world.loop(), size)) {
                taken.add(some);
            }
        }
    }

    @Test
    @Clause("H-3")
    void largeAnswer_toOneThatDoesNotRead_holdsAFewPagesOnly() {
        SimulatedPeer peer = deaf(1).getFirst();
        assertThat(used())
                .as("bytes of the loop's memory for an answer of 1 MiB that nobody takes")
                .isBetween(16L << 10, 112L << 10);
        assertThat(done).as("the answer is not complete").isEmpty();
        peer.resumeReading();
        world.advance(Duration.ofSeconds(2));
        requireWhole(peer);
        assertThat(done).containsExactly("200 " + LARGE);
        assertThat(used()).as("memory after the answer was taken").isZero();
    }

    @Test
    @Clause("H-3")
    void largeAnswers_eachInAnArrayOfItsOwn_areLimitedByWhatTheyHoldOfTheHeap() {
        List<SimulatedPeer> deaf = new ArrayList<>();
        for (int i = 0; i < MEMORY / LARGE; i++) {
            deaf.add(ask("/fresh", false));
        }
        assertThat(done).as("as many as the limit allows are under way").isEmpty();
        assertThat(ask("/fresh", true).receivedText())
                .as("one array more than fits")
                .startsWith("HTTP/1.1 503 ");
        deaf.getFirst().close();
        world.advance(Duration.ofSeconds(1));
        requireWhole(takenBySomebodyNew("/fresh"));
        for (SimulatedPeer peer : deaf.subList(1, deaf.size())) {
            peer.resumeReading();
        }
        world.advance(Duration.ofSeconds(5));
        deaf.subList(1, deaf.size()).forEach(this::requireWhole);
    }

    private SimulatedPeer takenBySomebodyNew(String target) {
        SimulatedPeer peer = ask(target, true);
        world.advance(Duration.ofSeconds(2));
        return peer;
    }

    @Test
    @Clause("H-3")
    void largeAnswer_ofAHandlerThatFailsBehindIt_isWhole() {
        requireWhole(takenBySomebodyNew("/failing"));
        assertThat(done).containsExactly("200 " + LARGE);
    }

    @Test
    @Clause("H-3")
    void largeAnswers_toMoreThanThereIsMemoryFor_areRefusedInTheErrorFormat() {
        server.errorFormat(ErrorFormat.PROBLEM_JSON);
        List<SimulatedPeer> deaf = deaf(60);
        assertThat(deaf).hasSize(60);
        assertThat(ask("/large", true).receivedText())
                .startsWith("HTTP/1.1 503 ")
                .contains(
                        "\r\nRetry-After: 1\r\n", "\r\nContent-Type: application/problem+json\r\n")
                .endsWith("\"detail\":\"no memory for the response at present: retry later\"}");
        server.errorFormat((_, _, _) -> new ErrorFormat.ErrorBody("text/html", new byte[4 << 10]));
        assertThat(ask("/large", true).receivedText())
                .as("a body that is too large for the lack of memory")
                .contains("\r\nContent-Type: text/plain")
                .endsWith("no memory for the response at present: retry later\n");
    }

    @Test
    @Clause("H-3")
    void largeAnswers_toMoreThanThereIsMemoryFor_areRefusedBeforeTheyBegin() {
        List<SimulatedPeer> deaf = deaf(60);
        assertThat(used())
                .as("three quarters of the memory and what one more answer takes")
                .isLessThan(MEMORY / 4 * 3 + (96 << 10));
        assertThat(done)
                .as("60 answers of 1 MiB to peers that do not read, within 4 MiB")
                .contains("503 51");
        SimulatedPeer refused = ask("/large", true);
        assertThat(refused.receivedText())
                .startsWith("HTTP/1.1 503 ")
                .contains("\r\nRetry-After: 1\r\n")
                .endsWith("no memory for the response at present: retry later\n");
        refused.takeReceived();
        for (SimulatedPeer peer : deaf) {
            peer.resumeReading();
        }
        world.advance(Duration.ofSeconds(20));
        for (SimulatedPeer peer : deaf) {
            if (!peer.receivedText().startsWith("HTTP/1.1 503 ")) {
                requireWhole(peer);
            }
        }
        assertThat(done.stream().filter(("200 " + LARGE)::equals).count())
                .as("answers that were begun and are whole")
                .isGreaterThanOrEqualTo(20);
        refused.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(2));
        requireWhole(refused);
        requireNoReset();
    }

    private String status(SimulatedPeer peer, String target) {
        peer.takeReceived();
        peer.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(100));
        return peer.receivedText().lines().findFirst().orElse("no answer");
    }

    @Test
    @Clause("H-3")
    void lastQuarterOfTheMemory_isForThoseWhoNeedLittle() {
        SimulatedPeer peer = ask("/tiny", true);
        List<Buffer> taken = new ArrayList<>();
        while (used() <= MEMORY / 4 * 3) {
            taken.add(Buffer.acquire(world.loop(), 64 << 10));
        }
        assertThat(status(peer, "/middle")).startsWith("HTTP/1.1 503");
        assertThat(status(peer, "/small")).startsWith("HTTP/1.1 200");
        while (used() < MEMORY - (16 << 10)) {
            taken.add(Buffer.acquire(world.loop(), 16 << 10));
        }
        assertThat(status(peer, "/small")).startsWith("HTTP/1.1 503");
        assertThat(status(peer, "/tiny")).startsWith("HTTP/1.1 200");
        taken.forEach(Buffer::release);
        assertThat(status(peer, "/middle")).startsWith("HTTP/1.1 200");
        requireNoReset();
    }

    @Test
    @Clause("H-3")
    void answerUnderWay_whenMemoryIsUsedUp_waitsForSomeAndGoesOn() {
        SimulatedPeer peer = deaf(1).getFirst();
        List<Buffer> taken = takeAllMemoryWith(peer);
        peer.resumeReading();
        world.advance(Duration.ofSeconds(1));
        assertThat(peer.received().length).as("there is memory for no more").isLessThan(LARGE / 2);
        assertThat(peer.isOpen()).as("it waits, and is not reset").isTrue();
        giveBack(peer, taken);
        world.advance(Duration.ofSeconds(2));
        requireWhole(peer);
        requireNoReset();
    }

    @Test
    @Clause("H-3")
    void answerThatWaitsForMemory_whosePeerLeaves_isOver() {
        SimulatedPeer peer = deaf(1).getFirst();
        List<Buffer> taken = takeAllMemoryWith(peer);
        peer.resumeReading();
        world.advance(Duration.ofSeconds(1));
        peer.reset();
        giveBack(peer, taken);
        world.advance(Duration.ofSeconds(1));
        assertThat(server.connections()).isZero();
        assertThat(done)
                .hasSize(1)
                .first()
                .asString()
                .startsWith("200 ")
                .isNotEqualTo("200 " + LARGE);
        assertThat(used()).isZero();
    }

    @Test
    void largeAnswers_sentAheadFor_comeOneAfterTheOther_headOnlyWithoutContent() {
        SimulatedPeer peer = world.connect(PORT);
        String get = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
        peer.send(get + "HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n" + get);
        world.advance(Duration.ofSeconds(4));
        assertThat(done).containsExactly("200 " + LARGE, "200 0", "200 " + LARGE);
        requireWhole(peer);
        assertThat(peer.received().length).isBetween(2 * LARGE + 200, 2 * LARGE + 1_000);
    }

    @Test
    @Clause("H-4")
    void answersAskedForAhead_onAListenerThatReadsUnderPressure_allComeWhenThePeerReads() {
        server.listen(
                new InetSocketAddress(PORT + 1),
                ListenerConfig.DEFAULT.withStreams(
                        StreamConfig.DEFAULT.withReadsUnderBackpressure(true)));
        SimulatedPeer peer = world.connect(PORT + 1).pauseReading();
        peer.send("GET /middle HTTP/1.1\r\nHost: a\r\n\r\n".repeat(60));
        world.advance(Duration.ofSeconds(1));
        peer.resumeReading();
        world.advance(Duration.ofSeconds(4));
        assertThat(done).hasSize(60);
    }
}
