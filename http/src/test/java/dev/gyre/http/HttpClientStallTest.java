package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.CloseReason;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.StreamConfig;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Transfers of any length whose server stalls or disappears.
class HttpClientStallTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    private static final String BEGINNING = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    private static final HttpClientConfig CONFIG =
            HttpClientConfig.DEFAULT
                    .withMaxConnections(1)
                    .withTimeout(Duration.ZERO)
                    .withStallTimeout(seconds(8));

    private final SimulatedWorld world = SimulatedWorld.seed(3);
    private final ScriptedPeer peer = new ScriptedPeer(world.loop());
    private final HttpClient client = HttpClient.on(world.loop(), CONFIG);
    private final List<String> told = new ArrayList<>();

    @AfterEach
    void close() {
        client.close();
        world.advance(seconds(60));
        world.close();
    }

    private static Duration seconds(int seconds) {
        return Duration.ofSeconds(seconds);
    }

    private static Promise<ClientResponse> quiet(Promise<ClientResponse> promise) {
        promise.then(_ -> null, _ -> null); // So that nobody reports it.
        return promise;
    }

    private static Throwable reason(Promise<ClientResponse> promise) {
        assertThat(promise.outcome()).isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<ClientResponse>) promise.outcome()).reason();
    }

    private void assertStallsIn(Promise<ClientResponse> call, Duration time, String words) {
        world.advance(time.minusMillis(20));
        assertThat(call.isSettled()).as("before its time").isFalse();
        world.advance(Duration.ofMillis(40));
        assertThat(reason(call))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining(words)
                .hasMessageContaining("8 s: raise ClientRequest.stallTimeout");
        assertThat(client.connections()).isZero();
    }

    // ------------------------------------------------------------------ silence

    @Test
    void call_withoutATimeInAll_takesAsLongAsItTakes() {
        ClientRequest call = client.request("GET", peer.uri("/")).stallTimeout(Duration.ZERO);
        Promise<ClientResponse> answer = quiet(call.send());
        world.advance(Duration.ofDays(2));
        assertThat(answer.isSettled()).isFalse();
        peer.streams().getFirst().write(OK);
        world.advance(seconds(1));
        assertThat(answer.outcome()).isInstanceOf(Outcome.Resolved.class);
    }

    @Test
    void peer_thatIsSilent_isGivenUpAfterAWhile() {
        Promise<ClientResponse> answer = quiet(client.get(peer.uri("/")));
        assertStallsIn(answer, seconds(8), "sent nothing of the response");
    }

    @Test
    void bytes_buyTime_untilThereAreNone() {
        peer.reply(BEGINNING);
        Promise<ClientResponse> answer = quiet(client.get(peer.uri("/")));
        for (int i = 0; i < 50; i++) {
            world.advance(seconds(7));
            peer.streams().getFirst().write("x");
        }
        world.run();
        assertStallsIn(answer, seconds(8), "sent nothing of the response");
    }

    @Test
    void pause_stopsTheTime_andItBeginsAnewAfterwards() {
        peer.reply(BEGINNING);
        ClientRequest call = client.request("GET", peer.uri("/"));
        Promise<ClientResponse> answer = quiet(call.onHead(_ -> call.pause()).send());
        world.advance(seconds(100));
        assertThat(answer.isSettled()).isFalse();
        call.resume();
        assertStallsIn(answer, seconds(8), "sent nothing of the response");
    }

    @Test
    void streamsOwnIdleTime_doesNotRunWhileTheCallIsPaused() {
        StreamConfig streams = StreamConfig.DEFAULT.withIdleTimeout(seconds(5));
        try (HttpClient other = HttpClient.on(world.loop(), CONFIG.withStreams(streams))) {
            peer.reply(BEGINNING);
            ClientRequest call = other.request("GET", peer.uri("/"));
            Promise<ClientResponse> answer = quiet(call.onHead(_ -> call.pause()).send());
            world.advance(seconds(100));
            assertThat(answer.isSettled()).isFalse();
            call.resume();
            world.advance(seconds(6));
            assertThat(reason(answer)).hasMessageContaining("IDLE_TIMEOUT");
        }
    }

    @Test
    void upload_thatIsWritten_buysTime_andOneThatIsNotEndedIsNamed() {
        ClientRequestStream out = client.request("PUT", peer.uri("/")).stream();
        Promise<ClientResponse> answer = quiet(out.response());
        for (int i = 0; i < 50; i++) {
            world.advance(seconds(7));
            out.write("x");
        }
        world.run();
        assertStallsIn(answer, seconds(8), "sent nothing of the response");
        assertThat(reason(answer)).hasMessageContaining("not ended: call ClientRequestStream.end");
        assertThat(out.isOpen()).isFalse();
    }

    @Test
    void upload_thatIsNotTaken_isGivenUp_andNoMoreIsHeldThanMayWait() {
        ClientRequestStream out = client.request("PUT", peer.uri("/")).stream();
        Promise<ClientResponse> answer = quiet(out.response());
        world.advance(seconds(1));
        peer.streams().getFirst().pause();
        byte[] piece = new byte[8 << 10];
        Runnable writeOn =
                () -> {
                    while (out.write(piece)) {
                        told.add("piece");
                    }
                };
        out.onWritable(writeOn);
        writeOn.run();
        world.run();
        assertThat(told).hasSizeBetween(1, 500);
        world.advance(seconds(10));
        assertThat(reason(answer)).hasMessageContaining("accepted nothing of the request for 8 s");
    }

    // ------------------------------------------------------------------ faults

    @Test
    void announcements_areNotToldAsHeads() {
        peer.reply("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + OK);
        ClientRequest call = client.request("GET", peer.uri("/"));
        Promise<ClientResponse> answer = call.onHead(head -> told.add("" + head.status())).send();
        world.advance(seconds(1));
        assertThat(answer.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(told).containsExactly("200");
    }

    @Test
    void answer_untilTheEndOfTheConnection_waitsWhileItIsPaused() {
        peer.replyAndEnd("HTTP/1.1 200 OK\r\n\r\nhello");
        ClientRequest call = client.request("GET", peer.uri("/"));
        call.onHead(_ -> call.pause()).onData(data -> told.add(data.getText(UTF_8)));
        Promise<ClientResponse> answer = call.send();
        world.advance(seconds(20));
        assertThat(told).isEmpty();
        assertThat(answer.isSettled()).isFalse();
        call.resume();
        world.advance(seconds(1));
        assertThat(told).containsExactly("hello");
        assertThat(answer.outcome()).isInstanceOf(Outcome.Resolved.class);
    }

    @Test
    void answer_thatIsCutOffWhileItIsPaused_isNoneInTheEnd() {
        peer.replyAndEnd(BEGINNING + "hello");
        ClientRequest call = client.request("GET", peer.uri("/"));
        call.onHead(_ -> call.pause()).onData(data -> told.add(data.getText(UTF_8)));
        Promise<ClientResponse> answer = quiet(call.send());
        world.advance(seconds(1));
        call.resume();
        world.advance(seconds(1));
        assertThat(told).containsExactly("hello");
        assertThat(reason(answer))
                .isInstanceOf(StreamClosedException.class)
                .hasMessageContaining("during its response");
    }

    @Test
    void cancel_whileItIsPaused_closesTheConnection() {
        peer.reply(BEGINNING);
        CancellationSource source = new CancellationSource();
        ClientRequest call = client.request("GET", peer.uri("/")).cancelOn(source.cancellation());
        Promise<ClientResponse> answer = quiet(call.onHead(_ -> call.pause()).send());
        world.advance(seconds(1));
        source.cancel("enough");
        world.advance(seconds(1));
        assertThat(reason(answer)).isInstanceOf(CancelledException.class);
        assertThat(peer.streams().getFirst().closeReason()).isEqualTo(CloseReason.RESET);
        call.resume();
    }

    @Test
    void stream_thatIsCancelledBeforeItBegins_isClosed() {
        CancellationSource source = new CancellationSource();
        source.cancel();
        ClientRequest call = client.request("PUT", peer.uri("/")).cancelOn(source.cancellation());
        ClientRequestStream out = call.stream();
        assertThat(out.isOpen()).isFalse();
        assertThat(out.write("a")).isFalse();
        assertThat(reason(quiet(out.end()))).isInstanceOf(CancelledException.class);
    }

    @Test
    void stream_onAKeptConnectionThatIsGone_isNeverSentAgain() {
        peer.reply(OK).replyAndEnd("").reply(OK);
        Promise<ClientResponse> _ = client.get(peer.uri("/"));
        world.advance(seconds(1));
        ClientRequestStream out = client.request("PUT", peer.uri("/")).stream();
        out.write("a");
        Promise<ClientResponse> answer = quiet(out.end());
        world.advance(seconds(1));
        assertThat(reason(answer))
                .isInstanceOf(StreamClosedException.class)
                .hasMessageContaining("before its response");
        assertThat(peer.requests()).hasSize(2);
        assertThat(out.isOpen()).isFalse();
    }

    @Test
    void stream_thatWaitsForAConnection_isCarriedByTheNextThatIsFree() {
        peer.reply(BEGINNING).reply(OK);
        Promise<ClientResponse> _ = client.get(peer.uri("/"));
        ClientRequestStream out = client.request("PUT", peer.uri("/")).stream(4);
        out.onWritable(() -> told.add("room"));
        assertThat(out.write("ab")).isFalse();
        world.advance(seconds(1));
        assertThat(told).isEmpty();
        peer.streams().getFirst().write("x".repeat(1000));
        world.advance(seconds(1));
        assertThat(told).containsExactly("room");
        out.write("cd");
        Promise<ClientResponse> answer = out.end();
        world.advance(seconds(1));
        assertThat(answer.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(peer.requests().getLast()).contains("Content-Length: 4\r\n").endsWith("ab");
    }

    @Test
    void write_thatDoesNotHeedNo_losesTheCallAndSaysTheLimit() {
        StreamConfig streams = StreamConfig.DEFAULT.withOutputLimit(100_000);
        try (HttpClient other = HttpClient.on(world.loop(), CONFIG.withStreams(streams))) {
            ClientRequestStream early = other.request("PUT", peer.uri("/")).stream();
            early.write(new byte[60_000]);
            early.write(new byte[60_000]);
            assertThat(reason(quiet(early.response())))
                    .hasMessageContaining("120000 bytes were written to PUT /")
                    .hasMessageContaining("withOutputLimit, now 100000");
            ClientRequestStream late = other.request("PUT", peer.uri("/")).stream();
            world.advance(seconds(1));
            late.write(new byte[60_000]);
            late.write(new byte[60_000]);
            world.run();
            assertThat(reason(quiet(late.response())))
                    .hasMessageContaining("OUTPUT_LIMIT: more than 100000 bytes");
        }
    }

    // ------------------------------------------------------------------ names

    @Test
    void target_isSentAsItIs() {
        peer.reply(OK);
        Promise<ClientResponse> _ =
                client.request("GET", peer.uri("/other")).target("//a|b/%zz?{c}").send();
        world.advance(seconds(1));
        assertThat(peer.requests().getFirst())
                .startsWith("GET //a|b/%zz?{c} HTTP/1.1\r\nHost: 127.0.0.1:");
    }

    @Test
    void host_withAnUnderscore_isAskedByThatName() {
        StreamConfig streams =
                StreamConfig.DEFAULT.withResolver(
                        host -> {
                            told.add(host);
                            return List.of(InetAddress.getLoopbackAddress());
                        });
        try (HttpClient other = HttpClient.on(world.loop(), CONFIG.withStreams(streams))) {
            peer.reply(OK);
            int port = peer.uri("/").getPort();
            URI uri = URI.create("http://my_Host:" + port + "/a?b");
            Promise<ClientResponse> answer = other.get(uri);
            world.advance(seconds(1));
            assertThat(answer.outcome()).isInstanceOf(Outcome.Resolved.class);
            assertThat(told).containsExactly("my_host");
            assertThat(peer.requests().getFirst())
                    .startsWith("GET /a?b HTTP/1.1\r\nHost: my_host:" + port + "\r\n");
        }
    }
}
