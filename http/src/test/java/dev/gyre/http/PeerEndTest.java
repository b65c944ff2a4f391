package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LogCapture;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// What handlers hear of peers that end their side, or are gone, before they have their answer.
@On("simulated")
class PeerEndTest {
    private static final int PORT = 80;
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SimulatedWorld world = SimulatedWorld.seed(9);
    private final HttpServer server = HttpServer.on(world.loop());
    private final List<Cancellation> cancellations = new ArrayList<>();
    private final List<Request> requests = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private final LogCapture log = new LogCapture();

    @BeforeEach
    void listen() {
        server.use(
                        (request, response, next) -> {
                            requests.add(request);
                            response.onComplete(
                                    () ->
                                            said.add(
                                                    request.target()
                                                            + " "
                                                            + response.status()
                                                            + (response.isTruncated()
                                                                    ? " cut off"
                                                                    : "")));
                            return next.handle(request, response);
                        })
                .get(
                        "/bound",
                        (request, response) -> {
                            cancellations.add(request.cancellation());
                            return Promise.delay(world.loop(), LONG, request.cancellation())
                                    .then(_ -> response.text("at last"));
                        })
                .get(
                        "/stubborn",
                        (request, response) -> {
                            cancellations.add(request.cancellation());
                            return Promise.delay(world.loop(), LONG)
                                    .then(_ -> response.text("all the same"));
                        })
                .get(
                        "/fails",
                        (request, response) ->
                                Promise.delay(world.loop(), LONG)
                                        .then(
                                                _ -> {
                                                    throw new CancelledException("of its own");
                                                }))
                .get("/quick", (_, response) -> response.text("quick"))
                .listen(PORT);
    }

    @AfterEach
    void close() {
        world.close();
        log.close();
    }

    private static String get(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    private SimulatedPeer ask(String target) {
        SimulatedPeer peer = world.connect(PORT);
        peer.send(get(target));
        world.advance(Duration.ofMillis(10));
        return peer;
    }

    private String reason(int request) {
        return Objects.requireNonNull(cancellations.get(request).reason()).getMessage();
    }

    @Test
    @Clause("H-5")
    void cancellation_isCancelledByThePeersEnd_andWhatIsBoundToItIsGivenUpQuietly() {
        SimulatedPeer peer = ask("/bound");
        assertThat(cancellations.getFirst().isCancelled()).isFalse();
        peer.halfClose();
        world.advance(Duration.ofMillis(10));
        assertThat(reason(0)).contains("ended its side");
        assertThat(said).containsExactly("/bound 499");
        assertThat(server.connections()).isZero();
        assertThat(peer.receivedText()).isEmpty();
        assertThat(log.messages()).isEmpty();
    }

    @Test
    @Clause("N-4")
    void answer_givenAfterThePeersEnd_isSentAllTheSame() {
        SimulatedPeer peer = ask("/stubborn").halfClose();
        world.advance(Duration.ofMillis(10));
        assertThat(cancellations.getFirst().isCancelled()).isTrue();
        world.advance(LONG);
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 200 ").endsWith("all the same");
        assertThat(server.connections()).isZero();
        assertThat(said).containsExactly("/stubborn 200");
        assertThat(log.messages()).isEmpty();
    }

    @Test
    @Clause("H-5")
    void failure_thatHasNothingToDoWithThePeer_isAnswered() {
        SimulatedPeer peer = ask("/fails").halfClose();
        world.advance(LONG.plusSeconds(1));
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 500 ");
        assertThat(log.messages()).hasSize(1);
    }

    @Test
    @Clause("N-4")
    void requests_sentAheadOfTheEnd_haveTheirTurn() {
        SimulatedPeer peer = world.connect(PORT);
        peer.send(get("/stubborn") + get("/quick") + get("/bound")).halfClose();
        world.advance(LONG.plusSeconds(1));
        assertThat(peer.receivedText()).contains("all the same").endsWith("quick");
        assertThat(cancellations.getLast().isCancelled()).isTrue();
        assertThat(said).containsExactly("/stubborn 200", "/quick 200", "/bound 499");
    }

    @Test
    @Clause({"N-8", "H-5"})
    void cancellation_isCancelledByAnEndBehindBytesSentAhead() {
        SimulatedPeer peer = world.connect(PORT);
        peer.send(get("/stubborn") + get("/stubborn") + "G");
        world.advance(Duration.ofMillis(10));
        peer.halfClose();
        world.advance(Duration.ofMillis(10));
        assertThat(reason(0)).contains("ended its side");
        world.advance(LONG);
        assertThat(cancellations).as("the next one").hasSize(2);
        assertThat(reason(1)).contains("ended its side");
    }

    @Test
    @Clause({"N-8", "H-5"})
    void reset_behindBytesSentAhead_costsTheConnectionAtOnceAndIsNotWaitedForByADrain() {
        SimulatedPeer peer = world.connect(PORT);
        peer.send(get("/stubborn") + "G");
        world.advance(Duration.ofMillis(10));
        Promise<?> drained = server.drain(LONG.multipliedBy(2));
        peer.reset();
        world.advance(Duration.ofMillis(10));
        assertThat(reason(0)).contains("RESET");
        assertThat(server.connections()).isZero();
        assertThat(drained.isSettled()).as("no client is left").isTrue();
    }

    @Test
    @Clause({"N-8", "N-4"})
    void end_behindABodyThatIsNotReadYet_isNotToldBeforeItIs() {
        List<String> bodies = new ArrayList<>();
        server.post(
                "/slow",
                (request, response) -> {
                    cancellations.add(request.cancellation());
                    return Promise.delay(world.loop(), Duration.ofSeconds(1))
                            .thenCompose(_ -> request.body().text(1 << 20))
                            .then(bodies::add)
                            .then(_ -> response.text("done"));
                });
        SimulatedPeer peer = world.connect(PORT);
        peer.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").halfClose();
        world.advance(Duration.ofMillis(500));
        assertThat(cancellations.getFirst().isCancelled()).isFalse();
        world.advance(Duration.ofSeconds(1));
        assertThat(bodies).containsExactly("hello");
        assertThat(peer.receivedText()).endsWith("done");
    }

    @Test
    @Clause("H-5")
    void cancellation_isCancelledByTheConnectionsEnd_andOneAskedForAfterwardsIsAlready() {
        SimulatedPeer peer = ask("/stubborn");
        assertThat(requests.getFirst().cancellation()).isSameAs(cancellations.getFirst());
        peer.reset();
        world.advance(Duration.ofMillis(10));
        assertThat(reason(0)).contains("closed before the response was complete", "RESET");
        assertThat(said).containsExactly("/stubborn 499");

        ask("/fails").reset();
        world.advance(Duration.ofMillis(10));
        Cancellation late = requests.getLast().cancellation();
        assertThat(Objects.requireNonNull(late.reason()).getMessage()).contains("RESET");
    }

    @Test
    @Clause("H-5")
    void cancellation_ofAnAnswerThatIsComplete_isNeverCancelled() {
        SimulatedPeer peer = ask("/bound");
        world.advance(LONG);
        assertThat(peer.receivedText()).endsWith("at last");
        peer.reset();
        world.advance(Duration.ofMillis(10));
        assertThat(cancellations.getFirst().isCancelled()).isFalse();
        assertThatThrownBy(() -> requests.getFirst().cancellation())
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("H-5")
    void request_withinOnDone_isReadable_andAfterwardsItIsSaidWhatToDo() {
        server.get(
                        "/streamed",
                        (_, response) -> {
                            ResponseStream out = response.stream();
                            out.write("bit by bit");
                            return out.end();
                        })
                .get(
                        "/cut",
                        (_, response) -> {
                            ResponseStream out = response.stream();
                            out.write("half");
                            Deferred<String> closed = world.loop().deferred();
                            out.onClose(() -> closed.resolve("closed"));
                            return closed.promise();
                        });
        ask("/quick");
        ask("/streamed");
        ask("/stubborn");
        ask("/cut").reset();
        world.advance(LONG);
        assertThat(said)
                .containsExactly(
                        "/quick 200", "/streamed 200", "/cut 200 cut off", "/stubborn 200");
        for (Request each : requests) {
            assertThatThrownBy(each::target)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("response.onComplete");
        }
    }

    @Test
    @Clause("H-4")
    void stream_thatNobodyEndsAfterThePeerHas_isCutOff_andOneThatIsWrittenIsNot() {
        List<ResponseStream> kept = new ArrayList<>();
        server.get(
                        "/left",
                        (_, response) -> {
                            ResponseStream out = response.stream();
                            kept.add(out);
                            out.write("begun");
                            return Promise.resolved(world.loop(), "");
                        })
                .get(
                        "/slowly",
                        (_, response) -> {
                            ResponseStream out = response.stream();
                            out.write("begun");
                            return Promise.delay(world.loop(), Duration.ofHours(1))
                                    .then(_ -> out.end());
                        });
        SimulatedPeer writes = ask("/left").halfClose();
        SimulatedPeer waits = ask("/slowly").halfClose();
        SimulatedPeer left = ask("/left").halfClose();
        SimulatedPeer stays = ask("/left");
        for (int i = 0; i < 4; i++) {
            world.advance(Duration.ofSeconds(50));
            world.loop().submit(() -> kept.getFirst().write("more"));
        }
        assertThat(said).containsExactly("/left 200 cut off");
        assertThat(left.isEnded() || !left.isOpen()).isTrue();
        assertThat(kept.get(1).isOpen()).isFalse();
        assertThat(log.messages()).hasSize(1);
        assertThat(log.messages().getFirst()).contains("GET /left", "call end()", "cancellation()");
        world.loop().submit(() -> kept.getFirst().end());
        world.advance(Duration.ofMillis(10));
        world.advance(Duration.ofHours(1));
        assertThat(writes.receivedText()).endsWith("more\r\n0\r\n\r\n");
        assertThat(waits.receivedText()).endsWith("0\r\n\r\n");
        assertThat(stays.isOpen()).isTrue();
        assertThat(kept.getLast().isOpen()).isTrue();
    }
}
