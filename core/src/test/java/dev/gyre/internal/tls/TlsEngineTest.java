package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.Tls;
import dev.gyre.io.TlsSession;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Two TLS ends in memory: handshake, data and close.
class TlsEngineTest {
    private Tls server;
    private Tls client;

    @BeforeEach
    void prepare() throws IOException {
        server = Certificates.server();
        client = Certificates.client();
    }

    private record Pair(TlsEnd server, TlsEnd client) {
        static Pair of(Tls server, Tls client) {
            return new Pair(
                    new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch())),
                    new TlsEnd(
                            TlsSetup.of(client).newEngine("localhost", 4433, new RecordScratch())));
        }

        Pair talk() {
            TlsEnd.talk(client, server);
            return this;
        }

        Pair requireOpen() {
            assertThat(client.engine.failure()).isNull();
            assertThat(server.engine.failure()).isNull();
            assertThat(client.engine.session()).as("the client's session").isNotNull();
            assertThat(server.engine.session()).as("the server's session").isNotNull();
            return this;
        }
    }

    private Pair open() {
        return Pair.of(server, client).talk().requireOpen();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void handshake_ofEachVersion_agreesAndCarriesBytesBothWays(String version) {
        client = client.withVersions(version);

        Pair pair = open();
        pair.client.write("hello");
        pair.server.write("welcome");
        pair.talk();

        TlsSession session = pair.client.engine.session();
        assertThat(session.version()).isEqualTo(version);
        assertThat(session.resumed()).isFalse();
        assertThat(session.protocol()).isNull();
        assertThat(session.serverName()).isEqualTo("localhost");
        assertThat(session.peerCertificates()).hasSize(1);
        assertThat(pair.server.engine.session().serverName()).isEqualTo("localhost");
        assertThat(pair.server.engine.session().peerCertificates()).isEmpty();
        assertThat(pair.server.text()).isEqualTo("hello");
        assertThat(pair.client.text()).isEqualTo("welcome");
        assertThat(pair.client.tasksRun).as("delegated tasks").isPositive();
        assertThat(pair.server.tasksRun).as("delegated tasks").isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void handshake_again_resumesTheSession(String version) {
        client = client.withVersions(version);
        open();

        Pair second = open();

        assertThat(second.client.engine.session().resumed()).isTrue();
        assertThat(second.server.engine.session().resumed()).isTrue();
        assertThat(second.client.engine.session().peerCertificates()).hasSize(1);
        second.client.write("again");
        assertThat(second.talk().server.text()).isEqualTo("again");
    }

    @Test
    @Clause("X-1")
    void handshake_underAnotherName_resumesNothing() throws IOException {
        open();

        Pair second = Pair.of(server, client.withServerName("127.0.0.1")).talk().requireOpen();

        assertThat(second.client.engine.session().resumed()).isFalse();
        assertThat(second.server.engine.session().serverName()).isNull();
    }

    @Test
    @Clause("X-1")
    void protocols_inCommon_areAgreedOnByTheServersPreference() {
        server = server.withProtocols("h2", "http/1.1");
        client = client.withProtocols("http/1.1", "h2");

        Pair pair = open();

        assertThat(pair.client.engine.session().protocol()).isEqualTo("h2");
        assertThat(pair.server.engine.session().protocol()).isEqualTo("h2");
    }

    @Test
    @Clause("X-1")
    void protocols_withNoneInCommon_areRefusedByName() {
        Pair pair = Pair.of(server.withProtocols("h2"), client.withProtocols("mqtt")).talk();

        assertThat(pair.server.engine.failure())
                .hasMessageContaining("none of our application protocols");
        assertThat(pair.client.engine.failure()).hasMessageContaining("no_application_protocol");
    }

    @Test
    @Clause("X-1")
    void protocols_ofAServerAlone_areNoCondition() {
        server = server.withProtocols("h2");

        assertThat(open().server.engine.session().protocol()).isNull();
    }

    // ------------------------------------------------------------------ ends

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void end_ofBothSides_isAnnouncedByCloseNotify(String version) {
        client = client.withVersions(version);
        Pair pair = open();
        pair.client.write("last words");
        pair.client.engine.end();
        pair.talk();
        pair.server.engine.end();
        pair.talk();

        assertThat(pair.server.text()).isEqualTo("last words");
        for (TlsEnd end : new TlsEnd[] {pair.client, pair.server}) {
            assertThat(end.engine.inputEnded()).isTrue();
            assertThat(end.engine.outputEnded()).isTrue();
            assertThat(end.engine.hasOutput()).isFalse();
            assertThat(end.engine.inputClosed()).isEqualTo(Next.END);
            assertThat(end.engine.failure()).isNull();
        }
    }

    @Test
    @Clause("X-1")
    void end_ofOneSide_leavesTheOtherDirectionOpen() {
        Pair pair = open();
        pair.client.engine.end();
        pair.talk();

        pair.server.write("still here");
        pair.talk();

        assertThat(pair.server.engine.inputEnded()).isTrue();
        assertThat(pair.server.engine.outputEnded()).isFalse();
        assertThat(pair.client.text()).isEqualTo("still here");
    }

    @Test
    @Clause("X-1")
    void inputClosed_withoutCloseNotify_isTruncation() {
        Pair pair = open();

        assertThat(pair.server.engine.inputClosed()).isEqualTo(Next.FAILURE);

        assertThat(pair.server.engine.failure()).hasMessageContaining("without close_notify");
    }

    @Test
    @Clause("X-1")
    void inputClosed_duringTheHandshake_saysSo() {
        Pair pair = Pair.of(server, client);
        pair.client.turn();

        pair.client.engine.inputClosed();

        assertThat(pair.client.engine.failure()).hasMessageContaining("during the TLS handshake");
    }

    @Test
    @Clause("X-1")
    void end_duringTheHandshake_endsBoth() {
        Pair pair = Pair.of(server, client);
        pair.client.turn();
        pair.client.engine.end();

        pair.talk();

        assertThat(pair.client.engine.outputEnded()).isTrue();
        assertThat(pair.server.engine.session()).isNull();
    }

    // ------------------------------------------------------------------ strangers

    @ParameterizedTest
    @ValueSource(
            strings = {"GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH_9.2", "\0\0\0\0\0\0", "EHLO there"})
    @Clause("X-1")
    void receive_ofWhatIsNoTls_saysWhatItWas(String sent) {
        TlsEnd end = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        end.arrive(sent.getBytes(StandardCharsets.UTF_8));

        end.turn();

        String expected =
                switch (sent.charAt(0)) {
                    case 'G' -> "the peer speaks HTTP, not TLS: it sent 'GET / HTTP/1.1\\x0d\\x0a'";
                    case 'S' -> "the peer speaks SSH, not TLS: it sent 'SSH-2.0-OpenSSH_…'";
                    case 'E' -> "the peer speaks SMTP or FTP, not TLS: it sent 'EHLO there'";
                    default -> "the peer speaks no TLS: it sent '\\x00\\x00\\x00\\x00\\x00\\x00'";
                };
        assertThat(end.engine.failure()).hasMessage(expected);
        end.turn();
        assertThat(end.engine.outputEnded()).isTrue();
    }

    @Test
    @Clause("X-1")
    void receive_ofARecordThatIsTooLong_failsBeforeItHasArrived() {
        TlsEnd end = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        end.arrive(new byte[] {22, 3, 1, (byte) 0xff, (byte) 0xff});

        end.turn();

        assertThat(end.engine.failure()).hasMessageContaining("record of 65540 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void receive_ofAChangedRecord_failsAndTellsThePeer(String version) {
        client = client.withVersions(version);
        Pair pair = open();
        pair.client.write("attack at dawn");
        pair.client.turn();
        byte[] record = pair.client.takeOutput();
        record[record.length - 1] ^= 1;
        pair.server.arrive(record);

        pair.talk();

        assertThat(pair.server.engine.failure()).isNotNull();
        assertThat(pair.server.text()).isEmpty();
        assertThat(pair.client.engine.failure()).hasMessageContaining("alert bad_record_mac");
    }

    @Test
    @Clause("X-1")
    void renegotiation_asked_isRefusedByEitherSide() {
        client = client.withVersions("TLSv1.2");
        byte[] handshakeRecord = {22, 3, 3, 0, 1, 0};

        for (boolean byClient : new boolean[] {true, false}) {
            Pair pair = open();
            TlsEnd asked = byClient ? pair.server : pair.client;
            asked.arrive(handshakeRecord);
            asked.turn();
            pair.talk();

            assertThat(asked.engine.failure()).hasMessageContaining("renegotiation");
            assertThat((byClient ? pair.client : pair.server).engine.failure())
                    .hasMessageContaining("alert unexpected_message");
        }
    }

    @Test
    @Clause("X-1")
    void versions_withoutACommonOne_areRefusedByName() {
        Pair pair = Pair.of(server.withVersions("TLSv1.3"), client.withVersions("TLSv1.2")).talk();

        assertThat(pair.client.engine.failure()).hasMessageContaining("alert protocol_version");
        assertThat(pair.server.engine.failure()).isNotNull();
    }

    @Test
    @Clause("X-1")
    void cipherSuites_asked_areTheOnesUsed() {
        client = client.withCipherSuites("TLS_AES_256_GCM_SHA384");

        assertThat(open().server.engine.session().cipherSuite())
                .isEqualTo("TLS_AES_256_GCM_SHA384");
    }

    @Test
    @Clause("X-1")
    void receive_withoutRoom_takesNothingAndGoesOnLater() {
        Pair pair = open();
        pair.client.write("x".repeat(10_000));
        pair.server.plaintextRoom = 100;
        pair.talk();
        assertThat(pair.server.text()).isEmpty();

        pair.server.plaintextRoom = 16_000;
        pair.talk();

        assertThat(pair.server.text()).hasSize(10_000);
    }

    @Test
    @Clause("X-1")
    void send_withoutRoom_takesNothing() {
        Pair pair = open();
        ByteBuffer data = ByteBuffer.wrap(new byte[10]);

        assertThat(pair.client.engine.send(new ByteBuffer[] {data}, 0, 1, ByteBuffer.allocate(50)))
                .isEqualTo(Next.ROOM);

        assertThat(data.remaining()).isEqualTo(10);
    }

    @Test
    @Clause("X-1")
    void receive_withAnEngineThatThrows_isAFailure() {
        Pair pair = open();
        pair.server.write("hello");
        pair.server.turn();
        ByteBuffer arrived = ByteBuffer.wrap(pair.server.takeOutput());

        Next next =
                pair.client.engine.receive(
                        Ciphertext.of(arrived), ByteBuffer.allocate(1 << 15).asReadOnlyBuffer());

        assertThat(next).isEqualTo(Next.FAILURE);
        assertThat(pair.client.engine.failure())
                .hasMessageContaining("the TLS engine failed: java.nio.ReadOnlyBufferException");
    }

    @Test
    @Clause("X-1")
    void send_withAnEngineThatThrows_isAFailure() {
        Pair pair = open();
        ByteBuffer[] plaintext = {ByteBuffer.wrap(new byte[10])};

        Next next =
                pair.client.engine.send(
                        plaintext, 0, 1, ByteBuffer.allocate(1 << 15).asReadOnlyBuffer());

        assertThat(next).isEqualTo(Next.FAILURE);
        assertThat(pair.client.engine.failure())
                .hasMessageContaining("the TLS engine failed: java.nio.ReadOnlyBufferException");
        assertThat(pair.client.engine.hasOutput()).isFalse();
    }
}
