package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.CloseReason;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Clause H-3 in virtual time: how long peers may take for what, and how a server ends.
@On("simulated")
class HttpTimesTest {
    private static final int PORT = 80;

    private final SimulatedWorld world = SimulatedWorld.seed(11);
    private final HttpServer server =
            HttpServer.on(
                    world.loop(),
                    HttpConfig.DEFAULT
                            .withIdleTimeout(Duration.ofSeconds(60))
                            .withHeaderTimeout(Duration.ofSeconds(10))
                            .withBodyTimeout(Duration.ofSeconds(30), 1_000)
                            .withWriteTimeout(Duration.ofSeconds(20), 3_000)
                            .withMaxBody(10 << 20));

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer peer(String sends) {
        SimulatedPeer peer = world.connect(PORT);
        peer.send(sends);
        world.advance(Duration.ofMillis(1));
        return peer;
    }

    private static String text(SimulatedPeer peer) {
        return peer.receivedText();
    }

    private void hello() {
        server.get("/", (_, response) -> response.text("hello"))
                .post("/", (request, response) -> request.body().text().then(response::text))
                .listen(PORT);
    }

    @Test
    @Clause("H-3")
    void connection_onWhichNobodyAsks_isClosedAfterItsTime() {
        hello();
        SimulatedPeer silent = world.connect(PORT);
        world.advance(Duration.ofSeconds(59));
        assertThat(silent.isOpen()).isTrue();
        world.advance(Duration.ofSeconds(2));
        assertThat(silent.isOpen()).as("after 61 seconds of silence").isFalse();
        assertThat(text(silent)).isEmpty();
    }

    @Test
    @Clause("H-3")
    void idleTime_countsFromTheLastAnswer() {
        hello();
        SimulatedPeer peer = peer("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(50));
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(50));
        assertThat(peer.isOpen()).isTrue();
        world.advance(Duration.ofSeconds(11));
        assertThat(peer.isOpen()).isFalse();
    }

    @Test
    @Clause("H-3")
    void head_thatComesByteByByte_isRefusedAfterItsTime_howeverBusyThePeerIs() {
        hello();
        List<RejectedRequest> refused = new ArrayList<>();
        server.use(
                new Middleware() {
                    @Override
                    public Promise<?> handle(Request request, Response response, Handler next)
                            throws Exception {
                        return next.handle(request, response);
                    }

                    @Override
                    public void onRejected(RejectedRequest request) {
                        refused.add(request);
                        throw new IllegalStateException("on purpose");
                    }
                });
        SimulatedPeer slow = peer("GET / HTTP/1.1\r\n");
        for (int second = 1; second < 10; second++) {
            world.advance(Duration.ofSeconds(1));
            slow.send("X-" + second + ": y\r\n");
            assertThat(slow.isOpen()).as("after %d seconds", second).isTrue();
        }
        world.advance(Duration.ofSeconds(2));
        assertThat(text(slow)).startsWith("HTTP/1.1 408 ").contains("\r\nConnection: close\r\n");
        assertThat(refused).extracting(RejectedRequest::status).containsExactly(408);
    }

    @Test
    @Clause("H-3")
    void content_thatTrickles_isRefused_andThatKeepsItsRateIsNot() {
        hello();
        SimulatedPeer slow = peer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
        SimulatedPeer steady = peer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 240000\r\n\r\n");
        byte[] second = new byte[2_000];
        for (int i = 0; i < 120; i++) {
            slow.send(new byte[] {1});
            steady.send(second);
            world.advance(Duration.ofSeconds(1));
        }
        assertThat(text(slow)).startsWith("HTTP/1.1 408 ");
        assertThat(text(steady))
                .as("twice the least rate for two minutes")
                .startsWith("HTTP/1.1 200 ");
    }

    @Test
    @Clause("H-3")
    void content_thatTricklesToAHandlerThatPauses_hasNoMoreTimeForThat() {
        server.post(
                        "/",
                        (request, response) -> {
                            Body body = request.body();
                            body.onData(
                                            _ -> {
                                                body.pause();
                                                world.loop()
                                                        .after(
                                                                Duration.ofMillis(500),
                                                                _ -> body.resume());
                                            })
                                    .onEnd(() -> response.text("whole"));
                            return world.loop().deferred().promise();
                        })
                .listen(PORT);
        SimulatedPeer slow = peer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
        for (int second = 0; second < 59; second++) {
            slow.send(new byte[] {1});
            world.advance(Duration.ofSeconds(1));
            assertThat(text(slow)).as("half of the time it is we who pause").isEmpty();
        }
        slow.send(new byte[] {1});
        world.advance(Duration.ofSeconds(3));
        assertThat(text(slow)).startsWith("HTTP/1.1 408 ");
    }

    @Test
    @Clause("H-3")
    void content_thatIsTooSlow_whoseCallbackThrows_isRefusedAllTheSame() {
        server.post(
                        "/",
                        (request, _) -> {
                            request.body()
                                    .onFailure(
                                            _ -> {
                                                throw new IllegalStateException("on purpose");
                                            })
                                    .onData(_ -> {});
                            return world.loop().deferred().promise();
                        })
                .listen(PORT);
        SimulatedPeer slow = peer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
        world.advance(Duration.ofMinutes(2));
        assertThat(text(slow)).startsWith("HTTP/1.1 408 ").contains("Connection: close");
        assertThat(slow.isClosed()).isTrue();
    }

    @Test
    @Clause("H-3")
    void answer_thatThePeerDoesNotTake_endsTheConnection() {
        world.socketBuffers(4_096);
        server.get("/large", (_, response) -> response.send(new byte[1 << 20])).listen(PORT);
        SimulatedPeer deaf = world.connect(PORT);
        deaf.pauseReading();
        deaf.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(19));
        assertThat(server.connections()).isEqualTo(1);
        world.advance(Duration.ofSeconds(3));
        assertThat(server.connections()).as("after 22 seconds in which nothing was taken").isZero();
    }

    /// A peer that reads only when told to, and what it asked for.
    private SimulatedPeer hesitant(String target) {
        SimulatedPeer peer = world.connect(PORT);
        peer.pauseReading().onChange(SimulatedPeer::pauseReading);
        peer.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(1));
        return peer;
    }

    /// Takes what has arrived, at most 4 KiB, and pauses again.
    private static void sip(SimulatedPeer peer) {
        peer.resumeReading();
    }

    private long writeTimeouts() {
        return closed(CloseReason.WRITE_TIMEOUT);
    }

    private long closed(CloseReason reason) {
        return world.loop().metrics().streamsClosed(reason);
    }

    /// Checks that this many connections were closed for a reason, and none for another.
    private void assertClosedOnly(CloseReason reason, int count) {
        world.advance(Duration.ofMinutes(2)); // longer than a peer's end is waited for
        for (CloseReason each : CloseReason.values()) {
            assertThat(closed(each)).as("closed: %s", each).isEqualTo(each == reason ? count : 0);
        }
    }

    /// A peer that keeps its side open when the server closes its own.
    private SimulatedPeer stubborn(String sends) {
        SimulatedPeer peer = peer(sends);
        peer.pauseReading().onChange(SimulatedPeer::pauseReading);
        return peer;
    }

    @Test
    @Clause({"H-3", "N-5"})
    void idleTimeout_ofAServer_isCountedAsItsCause() {
        hello();
        peer("");
        peer("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        stubborn("");
        world.advance(Duration.ofSeconds(61));
        assertClosedOnly(CloseReason.IDLE_TIMEOUT, 3);
    }

    @Test
    @Clause({"H-3", "N-5"})
    void headerTimeout_ofAServer_isCountedAsItsCause() {
        hello();
        peer("GET / HTTP/1.1\r\n");
        stubborn("GET / HTTP/1.1\r\n");
        SimulatedPeer gone = peer("GET / HTTP/1.1\r\n");
        gone.onChange(
                peer -> {
                    if (peer.isEnded()) {
                        peer.reset();
                    }
                });
        world.advance(Duration.ofSeconds(11));
        assertClosedOnly(CloseReason.HEADER_TIMEOUT, 3);
    }

    @Test
    @Clause({"H-3", "N-5"})
    void bodyTimeout_ofAServer_isCountedAsItsCause() {
        hello();
        server.post(
                "/close",
                (request, response) -> {
                    ResponseStream begun = response.header("Connection", "close").stream();
                    begun.write("begun");
                    return request.body().text();
                });
        peer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
        stubborn("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
        peer("POST /close HTTP/1.0\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
        world.advance(Duration.ofSeconds(31));
        assertClosedOnly(CloseReason.BODY_TIMEOUT, 3);
    }

    @Test
    @Clause({"H-3", "N-5"})
    void writeTimeout_ofAServer_isCountedAsItsCause() {
        world.socketBuffers(4_096);
        server.get("/large", (_, response) -> response.send(new byte[1 << 20])).listen(PORT);
        hesitant("/large");
        world.advance(Duration.ofSeconds(21));
        assertClosedOnly(CloseReason.WRITE_TIMEOUT, 1);
    }

    @Test
    @Clause("H-3")
    void answer_thatThePeerTakesTooSlowly_endsTheConnection_andAtTheLeastRateDoesNot() {
        world.socketBuffers(4_096);
        server.get("/large", (_, response) -> response.send(new byte[1 << 20])).listen(PORT);
        SimulatedPeer slow = hesitant("/large");
        SimulatedPeer steady = hesitant("/large");
        for (int second = 0; second < 200; second++) {
            sip(steady);
            if (second % 4 == 0) {
                sip(slow);
            }
            world.advance(Duration.ofSeconds(1));
            if (second == 18) {
                assertThat(server.connections()).as("before the time is over").isEqualTo(2);
            }
        }
        assertThat(slow.received().length)
                .as("what one got who takes 2 KiB a second of the 3 000 it should")
                .isBetween(4_096, 60_000);
        assertThat(writeTimeouts()).as("the reason of its end").isEqualTo(1);
        assertThat(steady.received().length)
                .as("what one got who takes 8 KiB a second")
                .isGreaterThan(500_000);
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    @Clause("H-3")
    void answer_thatIsAllWritten_andTakenTooSlowly_endsTheConnectionAlsoWhenItCloses() {
        HttpServer hasty =
                HttpServer.on(
                        world.loop(),
                        HttpConfig.DEFAULT.withWriteTimeout(Duration.ofSeconds(10), 20_000));
        world.socketBuffers(4_096);
        hasty.get("/middle", (_, r) -> r.send(new byte[60_000]))
                .get("/last", (_, r) -> r.header("Connection", "close").send(new byte[60_000]))
                .listen(PORT);
        SimulatedPeer kept = hesitant("/middle");
        SimulatedPeer last = hesitant("/last");
        for (int second = 0; second < 60; second += 3) {
            sip(kept);
            sip(last);
            world.advance(Duration.ofSeconds(3));
        }
        assertThat(kept.received().length).as("on a connection that is kept").isLessThan(50_000);
        assertThat(last.received().length).as("on one that closes").isLessThan(50_000);
        assertThat(writeTimeouts()).as("the reason of both ends").isEqualTo(2);
    }

    @Test
    @Clause("H-3")
    void events_thatAreFewAndTaken_areNotTooSlow() {
        server.get(
                        "/events",
                        (_, response) -> {
                            EventStream events = response.events();
                            world.loop().every(Duration.ofSeconds(4), _ -> events.send("x"));
                            return events.closed();
                        })
                .listen(PORT);
        SimulatedPeer peer = peer("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMinutes(5));
        assertThat(peer.isOpen())
                .as("a few bytes now and then, each written as the rate is looked at, and taken")
                .isTrue();
    }

    @Test
    @Clause("H-3")
    void leastRateOfZero_letsThePeerTakeItsTime() {
        HttpServer patient =
                HttpServer.on(
                        world.loop(),
                        HttpConfig.DEFAULT.withWriteTimeout(Duration.ofSeconds(20), 0));
        world.socketBuffers(4_096);
        patient.get("/large", (_, response) -> response.send(new byte[1 << 20])).listen(PORT);
        SimulatedPeer slow = hesitant("/large");
        for (int second = 0; second < 200; second += 4) {
            sip(slow);
            world.advance(Duration.ofSeconds(4));
        }
        assertThat(patient.connections()).isEqualTo(1);
        assertThat(slow.received().length)
                .as("what one got who was too slow for the other server")
                .isGreaterThan(100_000);
    }

    @Test
    @Clause("H-4")
    void events_areFollowedByACommentNowAndThen() {
        server.get("/events", (_, response) -> response.events().closed()).listen(PORT);
        SimulatedPeer peer = peer("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(100));
        assertThat(peer.isOpen()).as("longer than the idle time").isTrue();
        assertThat(text(peer)).contains(":\n\n");
    }

    @Test
    @Clause("H-5")
    void drain_closesTheIdle_answersTheBusy_andIsThenOver() {
        hello();
        server.get(
                "/slow",
                (_, response) ->
                        Promise.delay(world.loop(), Duration.ofSeconds(3))
                                .then(_ -> response.text("slow")));
        SimulatedPeer idle = peer("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        SimulatedPeer busy = peer("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
        List<String> events = new ArrayList<>();
        server.drain(Duration.ofSeconds(10)).thenAccept(_ -> events.add("drained"));
        world.advance(Duration.ofSeconds(1));
        assertThat(idle.isOpen()).isFalse();
        assertThat(busy.isOpen()).isTrue();
        assertThat(events).isEmpty();
        world.advance(Duration.ofSeconds(3));
        assertThat(text(busy)).contains("\r\nConnection: close\r\n").endsWith("slow");
        busy.close();
        world.advance(Duration.ofSeconds(1));
        assertThat(events).containsExactly("drained");
    }

    @Test
    @Clause("H-5")
    void drain_pastItsDeadline_cutsOffWhatIsLeft() {
        server.get("/never", (_, _) -> world.loop().deferred().promise()).listen(PORT);
        SimulatedPeer busy = peer("GET /never HTTP/1.1\r\nHost: a\r\n\r\n");
        List<String> events = new ArrayList<>();
        server.drain(Duration.ofSeconds(10)).thenAccept(_ -> events.add("drained"));
        world.advance(Duration.ofSeconds(9));
        assertThat(events).isEmpty();
        world.advance(Duration.ofSeconds(2));
        assertThat(events).containsExactly("drained");
        assertThat(busy.isOpen()).isFalse();
    }
}
