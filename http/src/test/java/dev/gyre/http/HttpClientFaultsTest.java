package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.net.URI;
import java.time.Duration;
import java.util.zip.CRC32;

/// Bodies in both directions at once, with pauses, in worlds with random faults.
class HttpClientFaultsTest {
    private static final int PIECES = 40;
    private static final byte[] PIECE = new byte[8 << 10];

    /// Echoes a body at the speed of the client.
    private static Promise<?> echo(Request request, Response response) {
        ResponseStream back = response.stream();
        Body body = request.body();
        back.onWritable(body::resume);
        body.onData(
                data -> {
                    if (!back.write(data)) {
                        body.pause();
                    }
                });
        body.onEnd(back::end);
        return Promise.resolved(request.loop(), "begun");
    }

    /// Sends one request with that many bytes, and returns the echo.
    private static final class Exchange {
        private final CRC32 sent = new CRC32();
        private final CRC32 received = new CRC32();
        private final ClientRequestStream out;
        private final Promise<ClientResponse> answer;
        private int written;
        private int pieces;

        Exchange(HttpClient client, EventLoop loop) {
            ClientRequest call = client.request("PUT", URI.create("http://127.0.0.1:90/"));
            call.onData(
                    data -> {
                        received.update(data.getBytes());
                        pieces++;
                        if (pieces % 3 == 0) {
                            call.pause();
                            loop.after(Duration.ofMillis(10), _ -> call.resume());
                        }
                    });
            out = call.stream();
            out.onWritable(this::writeOn);
            answer = out.response();
            answer.then(_ -> null, _ -> null); // So that nobody reports it.
            writeOn();
        }

        private void writeOn() {
            boolean room = true;
            while (room && written < PIECES) {
                PIECE[written] = (byte) written;
                sent.update(PIECE);
                room = out.write(PIECE);
                written++;
            }
            if (room) {
                out.end();
            }
        }

        boolean isWhole() {
            return answer.outcome() instanceof Outcome.Resolved
                    && written == PIECES
                    && sent.getValue() == received.getValue();
        }
    }

    private static Exchange exchange(SimulatedWorld world, Faults faults) {
        HttpServer server = HttpServer.on(world.loop());
        server.put("/", HttpClientFaultsTest::echo);
        server.listen(90);
        world.faults(faults);
        HttpClientConfig config =
                HttpClientConfig.DEFAULT
                        .withTimeout(Duration.ZERO)
                        .withStallTimeout(Duration.ofSeconds(30));
        HttpClient client = HttpClient.on(world.loop(), config);
        Exchange exchange = new Exchange(client, world.loop());
        world.advance(Duration.ofMinutes(5));
        assertThat(exchange.answer.isSettled()).as("in one way or the other").isTrue();
        assertThat(exchange.out.isOpen()).isFalse();
        assertThat(client.connections()).as("kept for nobody").isZero();
        return exchange;
    }

    @Test
    void bytes_comeBackWholeHoweverTheyAreCut() {
        SimulatedWorld.eachSeed(
                30,
                world -> {
                    Exchange exchange = exchange(world, Faults.harmless());
                    assertThat(exchange.isWhole()).as("%s", exchange.answer.outcome()).isTrue();
                });
    }

    @Test
    void call_thatFails_endsAndLeavesNothing_andOneThatDoesNotIsWhole() {
        SimulatedWorld.eachSeed(
                60,
                world -> {
                    Exchange exchange = exchange(world, Faults.all());
                    if (exchange.answer.outcome() instanceof Outcome.Resolved) {
                        assertThat(exchange.isWhole()).isTrue();
                    }
                });
    }
}
