package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.internal.tls.Certificates;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import javax.net.ssl.SSLException;

/// Clause X-1 over streams: TLS on every backend, and how its ends and failures look from above.
public abstract class TlsStreamContract extends StreamFixture {
    private static final int MANY = 1_000_000;

    @TempDir Path directory;

    private Tls serverTls;
    private Tls clientTls;

    @BeforeEach
    void prepareTls() throws IOException {
        serverTls = Certificates.server();
        clientTls = Certificates.client();
    }

    private void connectSecurely() {
        connect(StreamConfig.DEFAULT.withTls(serverTls), StreamConfig.DEFAULT.withTls(clientTls));
    }

    private static byte[] numbered(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    // ------------------------------------------------------------------ bytes

    @Test
    @Clause("X-1")
    void connect_withTls_isThereWhenTheHandshakeIsOver() {
        connectSecurely();
        record("client", client);
        server.onData(server::write);

        client.write("hello");
        awaitEvent("client hello");

        assertThat(client.tls().version()).isEqualTo("TLSv1.3");
        assertThat(client.tls().peerCertificates()).hasSize(1);
        assertThat(server.tls().resumed()).isFalse();
        assertThat(client.sent()).isEqualTo(5);
        assertThat(server.received()).isEqualTo(5);
    }

    @Test
    @Clause("X-1")
    void connect_byName_asksForItAndResumesTheNextTime() {
        listen(ListenerConfig.DEFAULT.withTls(serverTls));
        var to = InetSocketAddress.createUnresolved("localhost", address().getPort());
        StreamConfig config = StreamConfig.DEFAULT.withTls(clientTls);

        for (boolean resumed : new boolean[] {false, true}) {
            server = null;
            client = outcome(Stream.connect(loop, to, config));
            runUntil("accepted", () -> server != null);
            record("client" + resumed, client);
            server.onData(server::write);
            client.write("hello"); // The ticket comes with the first answer at the latest.
            awaitEvent("client" + resumed + " hello");

            assertThat(server.tls().serverName()).isEqualTo("localhost");
            assertThat(client.tls().resumed()).isEqualTo(resumed);
            assertThat(server.tls().resumed()).isEqualTo(resumed);
        }
    }

    @Test
    @Clause("X-1")
    void manyBytes_overTls_arriveInOrderAndWhole() {
        connectSecurely();
        Buffer got = Buffer.allocate(MANY);
        client.onData(got::put);
        server.onData(server::write);
        Promise<Void> flushed;
        int at = 0;
        byte[] all = numbered(MANY);
        for (int size : new int[] {1, 100, 5_000, 70_000, 200_000}) {
            client.write(Arrays.copyOfRange(all, at, at + size));
            at += size;
        }
        flushed = client.flushed();
        outcome(flushed);
        client.write(Arrays.copyOfRange(all, at, MANY));

        runUntil("all are back", () -> got.readable() == MANY);

        assertThat(got.getBytes()).isEqualTo(all);
        assertThat(client.sent()).isEqualTo(MANY);
    }

    @Test
    @Clause("X-1")
    void manyBytes_whileNobodyReads_waitAtTheSender() {
        connectSecurely();
        int most = 14 << 20; // More than the kernel's buffers take, less than the stream's limit.
        int some = most + 100_000;
        client.write(numbered(most));
        settle();
        assertThat(client.closeReason()).isNull();
        assertThat(client.pending()).isPositive();
        server.onData(Buffer::clear);
        client.write(numbered(some - most));

        runUntil("all arrived", () -> server.received() == some);
        runUntil("all sent", () -> client.pending() == 0);
    }

    @Test
    @Clause("X-1")
    void pause_inTheMiddle_losesNothing() {
        connectSecurely();
        Buffer got = Buffer.allocate(MANY);
        List<String> pauses = new ArrayList<>();
        server.onData(
                data -> {
                    got.put(data);
                    server.pause();
                    pauses.add("paused");
                    loop.defer(server::resume);
                });
        client.write(numbered(MANY));

        runUntil("all there", () -> got.readable() == MANY);

        assertThat(got.getBytes()).isEqualTo(numbered(MANY));
        assertThat(pauses).hasSizeGreaterThan(5);
    }

    @Test
    @Clause({"X-1", "N-2"})
    void caughtUp_overTls_isKeptBehindAllThatHasArrived() {
        connectSecurely();
        Buffer got = Buffer.allocate(MANY);
        server.onData(got::put);
        for (int turn = 1; turn <= 3; turn++) {
            server.pause();
            client.write(numbered(1_000 * turn));
            outcome(client.flushed());
            settle();
            int before = got.readable();
            server.resume();
            outcome(server.inputDelivered());
            assertThat(got.readable()).isEqualTo(before + 1_000 * turn);
        }
        outcome(server.inputDelivered()); // With nothing there at all.
    }

    @Test
    @Clause("X-1")
    void lend_overTls_givesTheBufferBack() {
        connectSecurely();
        Buffer got = Buffer.allocate(MANY);
        server.onData(got::put);
        Buffer lent = Buffer.allocate(100_000).put(numbered(100_000));
        List<Buffer> returned = new ArrayList<>();

        client.lend(lent, returned::add);
        assertThatThrownBy(lent::readable).isInstanceOf(IllegalStateException.class);
        runUntil("given back", () -> returned.size() == 1);
        runUntil("arrived", () -> got.readable() == 100_000);

        assertThat(lent.readable()).isZero();
        assertThat(got.getBytes()).isEqualTo(numbered(100_000));
    }

    @Test
    @Clause("X-1")
    void sendFile_overTls_sendsItsBytesBetweenOthers() throws IOException {
        Path path = Files.write(directory.resolve("file"), numbered(300_000));
        connectSecurely();
        Buffer got = Buffer.allocate(MANY);
        server.onData(got::put);
        List<Descriptor> opened = new ArrayList<>();
        operations.open(path, op -> opened.add(op.opened()), StandardOpenOption.READ).start();
        runUntil("opened", () -> !opened.isEmpty());

        try (Descriptor file = opened.getFirst()) {
            client.write("<");
            Promise<Long> sent = client.sendFile(file, 1000, 200_000);
            client.write(">");
            Promise<Long> rest = client.sendFile(file, 299_990, 5_000);
            client.write("!");

            assertThat(outcome(sent)).isEqualTo(200_000);
            assertThat(outcome(rest)).isEqualTo(10);
            runUntil("arrived", () -> got.readable() == 200_013);
        }
        byte[] arrived = got.getBytes();
        assertThat(arrived[0]).isEqualTo((byte) '<');
        assertThat(Arrays.copyOfRange(arrived, 1, 200_001))
                .isEqualTo(Arrays.copyOfRange(numbered(300_000), 1000, 201_000));
        assertThat(arrived[200_001]).isEqualTo((byte) '>');
        assertThat(arrived[200_012]).isEqualTo((byte) '!');
    }

    // ------------------------------------------------------------------ beginning later

    @Test
    @Clause("X-1")
    void secure_inTheMiddle_takesWhatIsUnreadAndNothingInTheClear() {
        connect();
        List<String> heard = new ArrayList<>();
        server.onData(
                data -> {
                    heard.add(data.getText(US_ASCII));
                    server.write("go");
                    server.startTls(serverTls);
                    server.onData(more -> heard.add("secret " + more.getText(US_ASCII)));
                });
        client.onData(
                data -> {
                    heard.add(data.getText(US_ASCII));
                    client.startTls(clientTls.withServerName("localhost"));
                    client.onData(more -> heard.add("secret " + more.getText(US_ASCII)));
                    client.write("hello");
                });
        client.write("start");

        runUntil("heard: " + heard, () -> heard.contains("secret hello"));

        assertThat(heard).containsExactly("start", "go", "secret hello");
        assertThat(server.tls().serverName()).isEqualTo("localhost");
    }

    @Test
    @Clause({"X-1", "N-2"})
    void flushed_aroundSecure_isKeptWhenWhatWasWrittenBeforeItIsOut() {
        StreamConfig small =
                StreamConfig.DEFAULT.withSocket(
                        SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10));
        connect(small, small);
        int clear = 2_000_000;
        long[] got = {0};
        List<String> heard = new ArrayList<>();
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                    if (got[0] == clear) {
                        client.pause();
                    }
                });
        client.pause();
        server.write(new byte[clear]);
        Promise<?> before = server.flushed();
        server.startTls(serverTls);
        Promise<?> between = server.flushed();
        server.write("secret");
        Promise<?> after = server.flushed();
        assertThat(server.pending()).as("what waits, in the clear and not").isEqualTo(clear + 6);

        client.resume();
        runUntil("some of it is sent", () -> server.sent() > 0);
        assertThat(before.isSettled()).as("kept with %d waiting", server.pending()).isFalse();
        assertThat(between.isSettled()).isFalse();

        runUntil("all that is in the clear", () -> got[0] == clear);
        settle();
        assertThat(before.isSettled()).as("all that was written before it is out").isTrue();
        assertThat(between.isSettled()).isTrue();
        assertThat(after.isSettled()).as("nobody has begun the handshake yet").isFalse();
        assertThat(server.pending()).isEqualTo(6);

        client.startTls(clientTls.withServerName("localhost"));
        client.onData(data -> heard.add(data.getText(US_ASCII)));
        client.resume();
        runUntil("the secret", () -> heard.contains("secret"));
        runUntil("told", after::isSettled);
        assertThat(server.sent()).isEqualTo(clear + 6);
        assertThat(server.pending()).isZero();
    }

    @Test
    @Clause({"X-1", "N-2"})
    void flushed_beforeSecure_isKeptAlsoIfAFileEndedEarly() throws IOException {
        connect();
        Path path = Files.writeString(directory.resolve("short"), "file");
        List<Descriptor> opened = new ArrayList<>();
        operations.open(path, op -> opened.add(op.opened()), StandardOpenOption.READ).start();
        runUntil("open", () -> !opened.isEmpty());
        StringBuilder heard = new StringBuilder();
        client.onData(data -> heard.append(data.getText(US_ASCII)));
        Promise<Long> sent = server.sendFile(opened.getFirst(), 0, 1_000);
        Promise<?> flushed = server.flushed();
        server.startTls(serverTls);
        runUntil("kept", flushed::isSettled);
        assertThat(outcome(sent)).isEqualTo(4);
        assertThat(server.pending()).isZero();
        runUntil("all of it", () -> heard.length() == 4);
        assertThat(server.sent()).isEqualTo(4);
        opened.getFirst().close();
    }

    @Test
    @Clause("X-1")
    void secure_withClearTextBehindTheRequest_failsInsteadOfBelievingIt() {
        connect();
        List<String> heard = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        server.onData(
                data -> {
                    byte[] command = new byte[8];
                    data.get(command);
                    heard.add(new String(command, US_ASCII));
                    server.startTls(serverTls)
                            .recover(
                                    failure -> {
                                        failures.add(failure);
                                        return null;
                                    });
                    server.protocol((stream, more) -> heard.add(more.getText(US_ASCII)));
                });
        client.write("STARTTLSinjected command");

        awaitClosed(server);

        assertThat(heard).containsExactly("STARTTLS");
        assertThat(server.closeReason()).isEqualTo(CloseReason.TLS_HANDSHAKE_FAILED);
        assertThat(server.failure())
                .hasMessageContaining("the peer speaks no TLS: it sent 'injected command'");
        runUntil("rejected", () -> failures.size() == 1);
        assertThat(failures).singleElement().isInstanceOf(SSLException.class);
    }

    @Test
    @Clause("X-1")
    void secure_firstMessageRefused_deliversTheFatalAlertBeforeTheEnd() {
        listen(ListenerConfig.DEFAULT.withTls(serverTls));
        String[][] refused = {
            {"GET / HTTP/1.1\r\n\r\n", "1503030002020a"}, // unexpected_message
            {"\u0080.\u0001\u0003\u0003", "15030300020228"}, // handshake_failure
        };

        for (String[] each : refused) {
            client = outcome(Stream.connect(loop, listener.address(), StreamConfig.DEFAULT));
            StringBuilder response = new StringBuilder();
            client.onData(data -> response.append(HexFormat.of().formatHex(data.getBytes())));
            client.write(each[0].getBytes(ISO_8859_1));

            awaitClosed(client);

            assertThat(response.toString()).isEqualTo(each[1]);
            assertThat(client.closeReason()).isEqualTo(CloseReason.ENDED);
        }
        assertThat(loop.metrics().streamsClosed(CloseReason.TLS_HANDSHAKE_FAILED)).isEqualTo(2);
    }

    @Test
    @Clause("X-1")
    void secure_afterEnd_isMisuse() {
        connect();
        client.end();

        assertThatThrownBy(() -> client.startTls(clientTls))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after end()");
    }

    // ------------------------------------------------------------------ ends

    @Test
    @Clause("X-1")
    void end_duringTheHandshake_comesBehindIt() {
        connect();
        Promise<TlsSession> agreed = client.startTls(clientTls);
        client.end();
        record("client", client);
        server.startTls(serverTls);
        record("server", server);

        awaitEvent("server end");
        server.write("late");
        server.end();
        awaitEvent("client ENDED");

        assertThat(agreed.isSettled()).isTrue();
        assertThat(events).contains("client late", "client end");
    }

    @Test
    @Clause("X-1")
    void end_ofEachSide_isSeenByTheOther() {
        connectSecurely();
        record("client", client);
        record("server", server);
        client.write("last");
        client.end();
        awaitEvent("server end");
        server.write("words");
        server.end();

        awaitEvent("client ENDED");
        awaitEvent("server ENDED");

        assertThat(events)
                .contains("server last", "client words")
                .doesNotContain("client TLS_TRUNCATED", "client TLS_FAILED");
    }

    @Test
    @Clause("X-1")
    void close_ofOneSide_isOrderlyOnBoth() {
        connectSecurely();
        record("client", client).onEnd(client::end);
        server.onClose(reason -> events.add("server " + reason));
        server.write("bye");
        server.close();

        awaitEvent("client ENDED");
        awaitEvent("server CLOSED");

        assertThat(events).contains("client bye");
    }

    @Test
    @Clause("X-1")
    void abort_ofOneSide_isNoEndForTheOther() {
        connectSecurely();
        record("client", client);
        server.abort();

        awaitClosed(client);

        assertThat(client.closeReason()).isIn(CloseReason.RESET, CloseReason.TLS_TRUNCATED);
        assertThat(events).doesNotContain("client end");
    }

    /// Connects the client to the TLS server through a plaintext relay, which [#server] is then.
    private void connectThroughARelay(List<Stream> ends) {
        listen(ListenerConfig.DEFAULT.withTls(serverTls));
        Listener behind = listener;
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT,
                        front ->
                                Stream.connect(loop, behind.address())
                                        .thenAccept(
                                                back -> {
                                                    ends.addAll(List.of(front, back));
                                                    front.onData(back::write);
                                                    back.onData(front::write);
                                                }));
        client = outcome(Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(clientTls)));
        runUntil("accepted", () -> server != null);
        behind.close();
    }

    @Test
    @Clause("X-1")
    void end_withoutCloseNotify_isTruncation() {
        List<Stream> relay = new ArrayList<>();
        connectThroughARelay(relay);
        record("client", client);
        server.write("partial");
        awaitEvent("client partial");

        relay.getFirst().end();
        awaitClosed(client);

        assertThat(client.closeReason()).isEqualTo(CloseReason.TLS_TRUNCATED);
        assertThat(client.failure()).hasMessageContaining("without close_notify");
        assertThat(events).doesNotContain("client end");
        relay.forEach(Stream::abort);
    }

    @Test
    @Clause("X-1")
    void input_thatIsNotTlsAfterTheHandshake_isAFailureButNoTruncation() {
        List<Stream> relay = new ArrayList<>();
        connectThroughARelay(relay);
        record("client", client);

        relay.getFirst().write("no record at all");
        relay.getFirst().end();
        awaitClosed(client);

        assertThat(client.closeReason()).isEqualTo(CloseReason.TLS_FAILED);
        assertThat(client.failure()).hasMessageContaining("not TLS");
        relay.forEach(Stream::abort);
    }

    // ------------------------------------------------------------------ failed handshakes

    @Test
    @Clause("X-1")
    void onHandshakeFailed_isCalledWithThePeerAndTheCause() throws IOException {
        List<SocketAddress> peers = new ArrayList<>();
        List<Throwable> causes = new ArrayList<>();
        ListenerConfig config =
                ListenerConfig.DEFAULT.withOnHandshakeFailed(
                        (peer, cause) -> {
                            peers.add(peer);
                            causes.add(cause);
                        });
        listen(config.withTls(serverTls));
        Tls wary = Tls.client().withTrustedCertificates(Certificates.pem("other"));
        failure(Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(wary)));
        runUntil("the certificate is rejected", () -> causes.size() == 1);
        Stream brief = outcome(Stream.connect(loop, address()));
        SocketAddress of = brief.localAddress();
        brief.end();
        runUntil("the peer leaves", () -> causes.size() == 2);
        listener.close();
        listen(config.withTls(serverTls.withHandshakeTimeout(Duration.ofMillis(20))));
        Stream silent = outcome(Stream.connect(loop, address()));
        runUntil("the handshake times out", () -> causes.size() == 3);

        assertThat(causes.get(0)).hasMessageContaining("it does not accept our certificate");
        assertThat(causes.get(1)).hasMessageContaining("ended during the TLS handshake");
        assertThat(peers.get(1)).isEqualTo(of);
        assertThat(causes.get(2)).hasMessageContaining("did not complete within 20 ms");
        assertThat(server).as("a stream without a handshake").isNull();
        silent.abort();
    }

    @Test
    @Clause({"X-1", "N-6"})
    void onHandshakeFailed_thatThrows_reachesTheLoopAndTheListenerContinues() {
        listen(
                ListenerConfig.DEFAULT
                        .withTls(serverTls)
                        .withOnHandshakeFailed(
                                (_, _) -> {
                                    throw new IllegalStateException("thrown by a test");
                                }));
        outcome(Stream.connect(loop, address())).end();
        runUntil("the failure is counted", () -> loop.metrics().failures() == 1);

        client = outcome(Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(clientTls)));
        runUntil("accepted", () -> server != null);
    }

    // ------------------------------------------------------------------ failures

    @Test
    @Clause("X-1")
    void connect_toAServerNobodyTrusts_isRejectedInWords() throws IOException {
        listen(ListenerConfig.DEFAULT.withTls(serverTls));
        Tls wary = Tls.client().withTrustedCertificates(Certificates.pem("other"));

        Throwable failure =
                failure(Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(wary)));

        assertThat(failure).isInstanceOf(SSLException.class).hasMessageContaining("is not trusted");
        assertThat(server).as("no stream without a handshake").isNull();
        runUntil("the listener let it go", () -> listener.connections() == 0);
    }

    @Test
    @Clause("X-1")
    void failure_withMuchUnread_tellsThePeerByAnAlertAndNotByAReset() {
        listen(ListenerConfig.DEFAULT.withTls(serverTls));
        client = outcome(Stream.connect(loop, address()));
        client.write(new byte[] {22, 3, 1, 0, 5, 1, 0, 0, 1, 0}); // A hello that says nothing.
        client.write(numbered(MANY));
        List<Byte> first = new ArrayList<>();
        client.onData(
                        data -> {
                            first.add(data.get());
                            data.clear();
                        })
                .onEnd(
                        () -> {
                            events.add("client end");
                            client.end();
                        })
                .onClose(reason -> events.add("client " + reason));

        runUntil("over: " + events, () -> client.closeReason() != null);

        assertThat(first).as("the type of the first record: an alert").startsWith((byte) 21);
        assertThat(events).containsExactly("client end", "client ENDED");
        runUntil("the listener let it go", () -> listener.connections() == 0);
    }

    @Test
    @Clause("X-1")
    void listen_withAClientsTls_isMisuse() {
        assertThatThrownBy(() -> listen(ListenerConfig.DEFAULT.withTls(clientTls)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Tls.server");
    }

    @Test
    @Clause("X-1")
    void connect_withAServersTls_isMisuse() {
        listen(ListenerConfig.DEFAULT);
        StreamConfig config = StreamConfig.DEFAULT.withTls(serverTls);

        assertThatThrownBy(() -> Stream.connect(loop, address(), config))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Tls.client()");
    }

    @Test
    @Clause("X-1")
    void connect_withoutANameToVerify_isRefusedBeforeAnythingIsConnected() {
        Path path = directory.resolve("socket");
        listener = Listener.unix(loop, path, stream -> server = stream);
        StreamConfig config = StreamConfig.DEFAULT.withTls(clientTls);

        assertThatThrownBy(() -> Stream.connect(loop, UnixDomainSocketAddress.of(path), config))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("withServerName");
        settle();

        assertThat(listener.accepted()).isZero();
    }

    @Test
    @Clause("X-1")
    void handshake_withASilentPeer_timesOut() {
        Tls hasty = serverTls.withHandshakeTimeout(Duration.ofMillis(20));
        listen(ListenerConfig.DEFAULT.withTls(hasty));
        client = outcome(Stream.connect(loop, address()));
        record("client", client);

        runUntil(
                "the client sees an end",
                () -> events.contains("client end") || client.closeReason() != null);

        assertThat(server).isNull();
        assertThat(listener.connections()).isZero();
    }

    @Test
    @Clause("X-1")
    void connect_toASilentPeer_isRejectedWhenTimeIsUp() {
        listen(ListenerConfig.DEFAULT);
        Tls hasty = clientTls.withHandshakeTimeout(Duration.ofMillis(20));

        Throwable failure =
                failure(Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(hasty)));

        assertThat(failure)
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("did not complete within 20 ms");
    }

    @Test
    @Clause("X-1")
    void connect_toAPeerThatHangsUp_isRejected() {
        listener = Listener.tcp(loop, (InetSocketAddress) anyPort(), Stream::close);

        Throwable failure =
                failure(Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(clientTls)));

        assertThat(failure).isInstanceOf(SSLException.class).hasMessageContaining("handshake");
    }

    @Test
    @Clause("X-1")
    void secure_twice_isMisuse() {
        connectSecurely();

        assertThatThrownBy(() -> client.startTls(clientTls))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("X-1")
    void idleConnection_overTls_holdsNoBuffer() {
        connectSecurely();
        record("client", client);
        server.onData(server::write);
        client.write("hello");
        awaitEvent("client hello");
        settle();

        assertThat(loop.metrics().bufferMemory()).as("bytes of the loop's pool").isZero();
    }

    @Test
    @Clause("X-1")
    void loopsEnd_duringAHandshake_endsIt() {
        listen(ListenerConfig.DEFAULT);
        Promise<Stream> connecting =
                Stream.connect(loop, address(), StreamConfig.DEFAULT.withTls(clientTls));
        connecting.then(_ -> null, _ -> null);
        runUntil("accepted", () -> server != null);

        loop.close();

        assertThat(connecting.isSettled()).isTrue();
    }
}
