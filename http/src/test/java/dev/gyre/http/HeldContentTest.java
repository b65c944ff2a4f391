package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What peers make a loop hold, many of them together: content that is collected, heads that are not whole, requests
/// sent ahead.
@On("simulated")
class HeldContentTest {
    private static final int PORT = 80;
    private static final int MIB = 1 << 20;
    private static final long MEMORY = 4L * MIB;

    private final SimulatedWorld world =
            SimulatedWorld.seed(5, LoopConfig.DEFAULT.withBufferMemory(MEMORY));
    private final HttpServer server = HttpServer.on(world.loop());
    private final Deferred<String> slow = world.loop().deferred();
    private final List<String> refused = new ArrayList<>();

    HeldContentTest() {
        server.use(
                        new Middleware() {
                            @Override
                            public Promise<?> handle(
                                    Request request, Response response, Handler next)
                                    throws Exception {
                                return next.handle(request, response);
                            }

                            @Override
                            public void onRejected(RejectedRequest request) {
                                refused.add("" + request.status());
                            }
                        })
                .get("/", (_, response) -> response.text("hello"))
                .get("/slow", (_, response) -> slow.promise().then(response::text))
                .post(
                        "/late",
                        (request, response) ->
                                slow.promise()
                                        .thenCompose(_ -> request.body().text())
                                        .then(response::text))
                .post(
                        "/collect",
                        (request, response) ->
                                request.body()
                                        .bytes()
                                        .then(content -> response.text("got " + content.length)))
                .post("/little", (request, response) -> request.body().text(5).then(response::text))
                .listen(PORT);
    }

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer peer(String sends) {
        SimulatedPeer peer = world.connect(PORT);
        peer.send(sends);
        world.advance(Duration.ofMillis(5));
        return peer;
    }

    /// An upload of which the last byte is missing.
    private SimulatedPeer upload(String framing, int bytes) {
        SimulatedPeer peer = peer("POST /collect HTTP/1.1\r\nHost: a\r\n" + framing + "\r\n\r\n");
        for (int left = bytes; left > 0 && peer.isOpen(); left -= 64 << 10) {
            peer.send(new byte[Math.min(left, 64 << 10)]);
            world.advance(Duration.ofMillis(20));
        }
        return peer;
    }

    private SimulatedPeer upload() {
        return upload("Content-Length: " + MIB, MIB - 1);
    }

    private void requireRefused(SimulatedPeer peer) {
        world.advance(Duration.ofSeconds(1));
        assertThat(peer.receivedText())
                .startsWith("HTTP/1.1 503 ")
                .contains("\r\nRetry-After: 1\r\n", "\r\nConnection: close\r\n");
    }

    private void requireServed(SimulatedPeer peer) {
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 200 ").endsWith("hello");
    }

    private static final String HELLO = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    // ------------------------------------------------------------------ collected content

    @Test
    @Clause("H-3")
    void uploads_thatAreCollected_areLimitedByWhatAllOfThemHoldOfTheHeap() {
        List<SimulatedPeer> held = new ArrayList<>();
        for (int i = 0; i < MEMORY / MIB; i++) {
            held.add(upload());
        }
        assertThat(held).as("as many as the share allows").allMatch(SimulatedPeer::isOpen);
        requireRefused(upload());
        requireServed(peer(HELLO));

        held.getFirst().send(new byte[1]);
        held.get(1).reset();
        world.advance(Duration.ofMillis(100));
        assertThat(held.getFirst().receivedText()).endsWith("got " + MIB);
        for (int i = 0; i < 2; i++) {
            SimulatedPeer next = upload();
            assertThat(next.isOpen()).as("an answered one and a lost one made room").isTrue();
            held.add(next);
        }
        requireRefused(upload());
    }

    @Test
    @Clause("H-3")
    void upload_thatIsOnlyAnnounced_holdsNothing() {
        for (int i = 0; i < 20; i++) {
            upload("Content-Length: " + MIB, 0);
        }
        SimulatedPeer real = upload();
        real.send(new byte[1]);
        world.advance(Duration.ofMillis(100));
        assertThat(real.receivedText()).endsWith("got " + MIB);
    }

    @Test
    @Clause("H-3")
    void uploads_inChunks_areLimitedToo() {
        String chunk = "10000\r\n" + "x".repeat(1 << 16) + "\r\n";
        List<SimulatedPeer> peers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SimulatedPeer peer = upload("Transfer-Encoding: chunked", 0);
            for (int j = 0; j < 15 && peer.isOpen(); j++) {
                peer.send(chunk);
                world.advance(Duration.ofMillis(20));
            }
            peers.add(peer);
        }
        requireRefused(peers.getLast());
        peers.getFirst().send("0\r\n\r\n");
        world.advance(Duration.ofMillis(100));
        assertThat(peers.getFirst().receivedText()).endsWith("got " + (15 << 16));
    }

    @Test
    @Clause("H-3")
    void content_aboveTheLimitOfItsRoute_isAnsweredWith413() {
        String post = "POST /little HTTP/1.1\r\nHost: a\r\n";
        assertThat(peer(post + "Content-Length: 5\r\n\r\nhello").receivedText()).endsWith("hello");
        assertThat(peer(post + "Content-Length: 6\r\n\r\nhello!").receivedText())
                .startsWith("HTTP/1.1 413 ")
                .endsWith("the body has more than 5 bytes\n");
        String chunks = "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n";
        assertThat(peer(post + chunks + "2\r\nlo\r\n0\r\n\r\n").receivedText()).endsWith("hello");
        assertThat(peer(post + chunks + "3\r\nlo!\r\n0\r\n\r\n").receivedText())
                .startsWith("HTTP/1.1 413 ")
                .contains("\r\nConnection: close\r\n");
    }

    // ------------------------------------------------------------------ what nobody can use yet

    @Test
    @Clause("H-3")
    void heads_thatAreNeverWhole_giveWayToThoseWhoComeAfterThem() {
        List<SimulatedPeer> hostile = new ArrayList<>();
        for (int i = 0; i < MEMORY / (16 << 10); i++) {
            hostile.add(peer("GET / HTTP/1.1\r\nX: " + "a".repeat(16_000)));
        }
        assertThat(world.loop().metrics().bufferMemory())
                .as("what is kept of heads, of %d bytes", MEMORY)
                .isLessThan(MEMORY / 8 * 5);
        requireServed(peer(HELLO));
        SimulatedPeer inPieces = peer("GET / HTTP/1.1\r\n");
        inPieces.send("Host: a\r\n\r\n");
        world.advance(Duration.ofMillis(5));
        requireServed(inPieces);
        requireRefused(hostile.getFirst());
        assertThat(refused).isNotEmpty().containsOnly("503");
    }

    @Test
    @Clause("H-3")
    void requests_sentAheadByMany_areDropped_andTheAnswerBeforeThemIsTheLast() {
        List<SimulatedPeer> hostile = new ArrayList<>();
        for (int i = 0; i < MEMORY / (16 << 10); i++) {
            hostile.add(peer("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" + HELLO.repeat(400)));
        }
        requireServed(peer(HELLO));
        slow.resolve("at last");
        world.advance(Duration.ofSeconds(1));
        assertThat(hostile.getFirst().receivedText())
                .startsWith("HTTP/1.1 200 ")
                .contains("\r\nConnection: close\r\n")
                .endsWith("at last");
        assertThat(hostile.getLast().receivedText())
                .as("there was memory for the last ones")
                .doesNotContain("Connection: close")
                .endsWith("hello");
    }

    @Test
    @Clause("H-3")
    void content_thatNobodyAsksForInTime_isNotThereAnyMore() {
        List<SimulatedPeer> hostile = new ArrayList<>();
        for (int i = 0; i < MEMORY / (16 << 10); i++) {
            hostile.add(
                    peer(
                            "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 16000\r\n\r\n"
                                    + "x".repeat(16_000)));
        }
        requireServed(peer(HELLO));
        slow.resolve("now");
        requireRefused(hostile.getFirst());
        assertThat(hostile.getLast().receivedText()).endsWith("xxx");
    }
}
