package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.HexFormat;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/// Alerts for unexpected messages, compared with the JDK's server socket.
class TlsAlertTest {
    private static final String UNEXPECTED_MESSAGE = "1503030002020a";
    private static final String HANDSHAKE_FAILURE = "15030300020228";

    private static TlsEnd server() throws IOException {
        return new TlsEnd(
                TlsSetup.of(Certificates.server()).newEngine(null, 0, new RecordScratch()));
    }

    private static TlsEnd client(String version) throws IOException {
        return new TlsEnd(
                TlsSetup.of(Certificates.client().withVersions(version))
                        .newEngine("localhost", 4433, new RecordScratch()));
    }

    private static String responseOf(TlsEnd end, byte[] sent) {
        end.arrive(sent);
        end.turn();
        end.turn();
        assertThat(end.engine.failure()).isNotNull();
        assertThat(end.engine.outputEnded()).isTrue();
        return HexFormat.of().formatHex(end.takeOutput());
    }

    /// The alert that the JDK's server socket sends before it closes. Needs no certificate.
    private static String responseOfJsse(byte[] sent) throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        try (SSLServerSocket listener =
                        (SSLServerSocket)
                                SSLContext.getDefault()
                                        .getServerSocketFactory()
                                        .createServerSocket(0, 1, here);
                Socket peer = new Socket(here, listener.getLocalPort());
                SSLSocket accepted = (SSLSocket) listener.accept()) {
            Thread handshake =
                    Thread.ofVirtual()
                            .start(
                                    () -> {
                                        try (accepted) {
                                            accepted.startHandshake();
                                        } catch (IOException e) {
                                            // The failure is expected; only the alert counts.
                                        }
                                    });
            peer.getOutputStream().write(sent);
            byte[] alert = peer.getInputStream().readNBytes(UNEXPECTED_MESSAGE.length() / 2);
            peer.shutdownOutput();
            handshake.join();
            return HexFormat.of().formatHex(alert);
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "plaintext HTTP, 474554202f20485454502f312e310d0a0d0a",
        "zeros, 00000000000000000000",
        "unknown content type, 1803030003010203",
        "application data, 1703030003010203",
        "change_cipher_spec, 140303000101",
        "Finished, 16030300101400000c000102030405060708090a0b",
        "ServerHelloDone, 16030300040e000000",
        "application data inside a ClientHello, 1603030004010000101703030001ff",
        "a record that is too long, 160303ffff010203",
    })
    @Clause("X-1")
    void receive_firstMessageUnexpected_sendsUnexpectedMessageAsJsse(String name, String sent)
            throws Exception {
        byte[] bytes = HexFormat.of().parseHex(sent);

        assertThat(responseOf(server(), bytes)).isEqualTo(UNEXPECTED_MESSAGE);
        assertThat(responseOfJsse(bytes)).as("the alert of the JDK").isEqualTo(UNEXPECTED_MESSAGE);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "SSL 2.0, 8025010002000c0000001001008002008003008004008000000000000000000000000000000000",
        "TLS 1.2, 8025010303000c0000001000002f00003500000a00000500000000000000000000000000000000",
        "only its beginning, 802e010303",
        "longer than any record, ffff010301",
    })
    @Clause("X-1")
    void receive_sslTwoHello_sendsHandshakeFailureAsJsse(String name, String sent)
            throws Exception {
        byte[] bytes = HexFormat.of().parseHex(sent);
        TlsEnd server = server();

        assertThat(responseOf(server, bytes)).isEqualTo(HANDSHAKE_FAILURE);
        assertThat(responseOfJsse(bytes)).as("the alert of the JDK").isEqualTo(HANDSHAKE_FAILURE);
        assertThat(server.engine.failure()).hasMessageContaining("SSLv2");
    }

    @Test
    @Clause("X-1")
    void receive_sslTwoHelloByteByByte_isRefusedOnce() throws Exception {
        TlsEnd server = server();
        for (byte each : HexFormat.of().parseHex("802e010303")) {
            assertThat(server.engine.failure()).isNull();
            server.arrive(new byte[] {each});
            server.turn();
        }
        server.turn();

        assertThat(HexFormat.of().formatHex(server.takeOutput())).isEqualTo(HANDSHAKE_FAILURE);
    }

    /// The alert is encrypted, so the other end reports it.
    @ParameterizedTest
    @CsvSource({
        "TLSv1.2, 474554202f20485454502f312e31",
        "TLSv1.3, 474554202f20485454502f312e31",
        "TLSv1.2, 160303000100",
        "TLSv1.3, 180303000100",
        "TLSv1.3, 170303ffff00",
    })
    @Clause("X-1")
    void receive_unexpectedAfterTheHandshake_sendsUnexpectedMessage(String version, String sent)
            throws Exception {
        for (boolean toServer : new boolean[] {true, false}) {
            TlsEnd client = client(version);
            TlsEnd server = server();
            TlsEnd.talk(client, server);
            assertThat(client.engine.session()).isNotNull();
            TlsEnd refusing = toServer ? server : client;
            TlsEnd refused = toServer ? client : server;

            refusing.arrive(HexFormat.of().parseHex(sent));
            refusing.turn();
            TlsEnd.talk(client, server);

            assertThat(refusing.engine.failure()).isNotNull();
            assertThat(refused.engine.failure()).hasMessageContaining("alert unexpected_message");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void receive_unexpectedDuringTheHandshake_sendsUnexpectedMessage(String version)
            throws Exception {
        TlsEnd client = client(version);
        TlsEnd server = server();
        client.turn();
        server.arrive(client.takeOutput());
        server.turn();
        server.turn();
        byte[] flight = server.takeOutput();
        assertThat(flight).as("the server's first messages").isNotEmpty();

        server.arrive("GET / HTTP/1.1\r\n".getBytes(US_ASCII));
        server.turn();
        server.turn();
        client.arrive(flight);
        client.arrive(server.takeOutput());
        for (int i = 0; i < 4; i++) {
            client.turn();
        }

        assertThat(server.engine.failure()).hasMessageContaining("are not TLS");
        assertThat(client.engine.failure()).hasMessageContaining("alert unexpected_message");
    }
}
