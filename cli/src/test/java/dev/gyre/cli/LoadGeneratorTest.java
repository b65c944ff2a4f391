package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/// A clients and its load against servers on the same loop, good and bad ones.
@Timeout(60)
final class LoadGeneratorTest {
    private static final int MEMBERS = 20;

    private final EventLoop loop = EventLoop.open();
    private final List<Integer> progress = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    private LoadClients clients(Consumer<? super Stream> server) {
        return clients(LoadKind.ECHO, server);
    }

    private LoadClients clients(LoadKind kind, Consumer<? super Stream> server) {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Listener listener = Listener.tcp(loop, any, server);
        return new LoadClients(loop, kind, listener.address(), MEMBERS, progress::add);
    }

    /// Runs the loop until it is settled.
    private void await(Promise<@Nullable Void> promise) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Promise<@Nullable Void> _ =
                promise.then(
                        _ -> {
                            loop.stop();
                            return null;
                        },
                        reason -> {
                            failure.set(reason);
                            loop.stop();
                            return null;
                        });
        loop.run();
        assertThat(failure.get()).isNull();
    }

    @Test
    void load_ofAnHonestEcho_bringsEveryMessageBack() {
        LoadClients clients = clients(stream -> stream.onData(stream::write));
        await(clients.connect());
        assertThat(progress).hasSize(MEMBERS).endsWith(MEMBERS);

        LoadGenerator load = new LoadGenerator(clients, 1);
        await(load.run());

        assertThat(load.sent() + load.missing()).isEqualTo(MEMBERS);
        assertThat(load.wrong()).isZero();
        assertThat(load.nanos().getTotalCount()).isEqualTo(load.sent());
        assertThat(clients.dropped()).isZero();
    }

    @Test
    void load_ofAnEchoThatChangesMessages_noticesEach() {
        LoadClients clients = clients(stream -> stream.onData(data -> answerWrongly(stream, data)));
        await(clients.connect());

        LoadGenerator load = new LoadGenerator(clients, 1);
        await(load.run());

        assertThat(load.sent()).isPositive();
        assertThat(load.wrong()).isEqualTo(load.sent());
    }

    private static void answerWrongly(Stream stream, Buffer data) {
        byte[] bytes = data.getBytes();
        bytes[0]++;
        boolean _ = stream.write(bytes);
    }

    @Test
    void load_ofAWebServer_takesTheAnswerInWhateverPieces() {
        String answer = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";
        List<Integer> cuts = new ArrayList<>();
        LoadClients clients =
                clients(
                        LoadKind.HTTP,
                        stream -> {
                            int cut = 1 + cuts.size() * (answer.length() - 2) / MEMBERS;
                            cuts.add(cut);
                            stream.onData(data -> answerInTwo(stream, data, answer, cut));
                        });
        await(clients.connect());

        LoadGenerator load = new LoadGenerator(clients, 1);
        await(load.run());

        assertThat(load.sent()).isPositive();
        assertThat(load.wrong()).isZero();
        assertThat(load.nanos().getTotalCount()).isEqualTo(load.sent());
        assertThat(clients.dropped()).isZero();
    }

    private void answerInTwo(Stream stream, Buffer data, String answer, int cut) {
        assertThat(data.getText(ISO_8859_1)).startsWith("GET /plaintext HTTP/1.1\r\n");
        boolean _ = stream.write(answer.substring(0, cut));
        loop.defer(() -> stream.write(answer.substring(cut)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 503 Busy\r\nContent-Length: 13\r\n\r\nHello, World!",
                "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, Wörld",
                "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nHello, World!!",
                "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nHello, World!"
            })
    void load_ofAWebServerThatAnswersOtherwise_noticesEach(String answer) {
        LoadClients clients =
                clients(
                        LoadKind.HTTP,
                        stream ->
                                stream.onData(
                                        data -> {
                                            data.skip(data.readable());
                                            boolean _ = stream.write(answer);
                                        }));
        await(clients.connect());

        LoadGenerator load = new LoadGenerator(clients, 1);
        await(load.run());

        assertThat(load.sent()).isPositive();
        assertThat(load.wrong()).isEqualTo(load.sent());
    }

    @Test
    void crowd_whoseServerSaysWhatNobodyAskedFor_countsThemAsDropped() {
        LoadClients clients =
                clients(LoadKind.HTTP, stream -> stream.write("HTTP/1.1 200 OK\r\n\r\n"));
        await(clients.connect());
        while (clients.dropped() < MEMBERS) {
            long _ = loop.runOne();
        }

        assertThat(clients.droppedBy()).containsOnlyKeys(CloseReason.ABORTED);
    }

    @Test
    void crowd_whoseServerDropsThem_countsEachWithItsReason() {
        List<Stream> accepted = new ArrayList<>();
        LoadClients clients = clients(accepted::add);
        await(clients.connect());
        // The last one may be accepted after it is connected.
        while (accepted.size() < MEMBERS) {
            long _ = loop.runOne();
        }

        accepted.forEach(Stream::abort);
        while (clients.dropped() < MEMBERS) {
            long _ = loop.runOne();
        }

        assertThat(clients.droppedBy()).containsOnlyKeys(CloseReason.RESET);
    }

    @Test
    void crowd_thatLeaves_dropsNothing() {
        LoadClients clients = clients(stream -> stream.onData(stream::write));
        await(clients.connect());

        clients.disconnect();
        loop.submit(loop::stop);
        loop.run();

        assertThat(clients.dropped()).isZero();
    }

    @Test
    void crowd_whereNobodyListens_saysWhy() {
        Listener gone =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        Stream::abort);
        gone.close();
        LoadClients clients =
                new LoadClients(loop, LoadKind.ECHO, gone.address(), MEMBERS, progress::add);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Promise<@Nullable Void> _ =
                clients.connect()
                        .then(
                                _ -> null,
                                reason -> {
                                    failure.set(reason);
                                    loop.stop();
                                    return null;
                                });
        loop.run();

        assertThat(failure.get()).isInstanceOf(SystemCallException.class);
    }
}
