package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.io.Tls;
import dev.gyre.io.Tls.ClientCertificates;
import dev.gyre.io.TlsSession;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.net.ssl.SSLException;

/// Server names, certificates of both sides, trust and reloading.
class TlsIdentityTest {
    @TempDir Path directory;

    private Tls server;
    private Tls client;

    @BeforeEach
    void prepare() throws IOException {
        server = Certificates.server();
        client = Certificates.client();
    }

    private TlsEnd serverEnd;
    private TlsEnd clientEnd;

    private void meet(Tls server, Tls client, String host) {
        serverEnd = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        clientEnd = new TlsEnd(TlsSetup.of(client).newEngine(host, 4433, new RecordScratch()));
        TlsEnd.talk(clientEnd, serverEnd);
    }

    private TlsSession agreed() {
        assertThat(clientEnd.engine.failure()).isNull();
        assertThat(serverEnd.engine.failure()).isNull();
        return clientEnd.engine.session();
    }

    private String shown() {
        return agreed().peerCertificates().getFirst().getSubjectX500Principal().getName();
    }

    // ------------------------------------------------------------------ names

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void name_askedFor_choosesTheCertificate(String version) throws IOException {
        Tls many =
                server.withSniCertificate(
                                "*.Example.org", Certificates.pem("wild"), Certificates.key("wild"))
                        .withSniCertificate(
                                "example.org", Certificates.pem("org"), Certificates.key("org"))
                        .withVersions(version);

        meet(many, client, "example.org");
        assertThat(shown()).isEqualTo("CN=org");
        assertThat(serverEnd.engine.session().serverName()).isEqualTo("example.org");
        meet(many, client, "WWW.example.org");
        assertThat(shown()).isEqualTo("CN=wild");
        meet(many, client, "localhost");
        assertThat(shown()).isEqualTo("CN=server");
        meet(many, client, "127.0.0.1");
        assertThat(shown()).isEqualTo("CN=server");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void name_askedForAgain_resumesItsOwnSession(String version) throws IOException {
        Tls many =
                server.withSniCertificate(
                                "example.org", Certificates.pem("org"), Certificates.key("org"))
                        .withVersions(version);
        meet(many, client, "example.org");

        meet(many, client, "example.org");

        assertThat(agreed().resumed()).isTrue();
        assertThat(serverEnd.engine.session().resumed()).isTrue();
        assertThat(serverEnd.engine.session().serverName()).isEqualTo("example.org");
        assertThat(shown()).isEqualTo("CN=org");
    }

    @Test
    @Clause("X-1")
    void name_unknown_getsTheDefaultWhichTheClientRefuses() throws IOException {
        Tls many =
                server.withSniCertificate(
                        "*.example.org", Certificates.pem("wild"), Certificates.key("wild"));

        meet(many, client, "a.b.example.org");

        assertThat(clientEnd.engine.failure())
                .hasMessageContaining("certificate of a.b.example.org was rejected")
                .hasMessageContaining("No subject alternative DNS name matching");
        assertThat(serverEnd.engine.failure()).hasMessageContaining("alert certificate_unknown");
    }

    @Test
    @Clause("X-1")
    void serverName_given_isAskedForInsteadOfTheHost() throws IOException {
        Tls many =
                server.withSniCertificate(
                        "example.org", Certificates.pem("org"), Certificates.key("org"));

        meet(many, client.withServerName("example.org"), "10.0.0.1");

        assertThat(shown()).isEqualTo("CN=org");
        assertThat(agreed().serverName()).isEqualTo("example.org");
    }

    @Test
    @Clause("X-1")
    void client_withoutANameToVerify_isMisuse() {
        assertThatThrownBy(() -> TlsSetup.of(client).newEngine(null, 0, new RecordScratch()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("withServerName");
        assertThat(
                        TlsSetup.of(client.withoutVerification())
                                .newEngine(null, 0, new RecordScratch()))
                .isNotNull();
    }

    // ------------------------------------------------------------------ trust

    @Test
    @Clause("X-1")
    void server_ofAnotherAuthority_isRefusedWithARemedy() throws IOException {
        meet(server, Tls.client().withTrustedCertificates(Certificates.pem("other")), "localhost");

        assertThat(clientEnd.engine.failure())
                .hasMessageContaining("the certificate of localhost is not trusted")
                .hasMessageContaining("withTrustedCertificates");
        assertThat(serverEnd.engine.failure()).hasMessageContaining("the peer sent alert");
    }

    @Test
    @Clause("X-1")
    void server_ofNobody_isRefusedByTheSystemsTrust() {
        meet(Tls.selfSigned("localhost"), Tls.client(), "localhost");

        assertThat(clientEnd.engine.failure()).hasMessageContaining("is not trusted");
    }

    @Test
    @Clause("X-1")
    void server_expired_isRefusedAndWasWarnedOf() throws IOException {
        Tls expired;
        try (LogCapture log = new LogCapture()) {
            expired = Tls.server(Certificates.pem("expired"), Certificates.key("expired"));
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("expired.pem")
                    .contains("expired on 2002-02-03T04:05:06Z");
        }

        meet(expired, client, "localhost");

        assertThat(clientEnd.engine.failure())
                .hasMessageContaining("certificate of localhost has expired");
    }

    @Test
    @Clause("X-1")
    void withoutVerification_believesAnyNameOfAnybody() {
        meet(Tls.selfSigned("elsewhere"), Tls.client().withoutVerification(), "localhost");

        assertThat(shown()).isEqualTo("CN=elsewhere");
    }

    // ------------------------------------------------------------------ clients

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void clientCertificate_required_isShownAndRemembered(String version) throws IOException {
        Tls strict =
                server.withTrustedCertificates(Certificates.pem("ca"))
                        .withClientCertificates(ClientCertificates.REQUIRED)
                        .withVersions(version);
        Tls known = client.withCertificate(Certificates.pem("client"), Certificates.key("client"));

        for (boolean resumed : new boolean[] {false, true}) {
            meet(strict, known, "localhost");

            assertThat(agreed().resumed()).isEqualTo(resumed);
            assertThat(serverEnd.engine.session().resumed()).isEqualTo(resumed);
            assertThat(serverEnd.engine.session().peerCertificates())
                    .singleElement()
                    .satisfies(
                            certificate ->
                                    assertThat(certificate.getSubjectX500Principal().getName())
                                            .isEqualTo("CN=client"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    @Clause("X-1")
    void clientCertificate_missing_isRefusedOnlyWhereRequired(String version) throws IOException {
        Tls asking = server.withTrustedCertificates(Certificates.pem("ca")).withVersions(version);

        meet(asking.withClientCertificates(ClientCertificates.WANTED), client, "localhost");
        assertThat(agreed()).isNotNull();
        assertThat(serverEnd.engine.session().peerCertificates()).isEmpty();

        // The same Tls: a session without a certificate must not be resumed where one is required.
        meet(asking.withClientCertificates(ClientCertificates.REQUIRED), client, "localhost");
        assertThat(serverEnd.engine.failure()).hasMessageContaining("sent no certificate");
        assertThat(clientEnd.engine.failure()).hasMessageContaining("localhost sent alert");
    }

    @Test
    @Clause("X-1")
    void clientCertificate_ofAStranger_isRefused() throws IOException {
        Tls strict =
                server.withTrustedCertificates(Certificates.pem("ca"))
                        .withClientCertificates(ClientCertificates.REQUIRED);

        meet(
                strict,
                client.withCertificate(Certificates.pem("stranger"), Certificates.key("stranger")),
                "localhost");

        assertThat(serverEnd.engine.failure()).hasMessageContaining("is not trusted");
        assertThat(clientEnd.engine.failure()).hasMessageContaining("localhost sent alert");
    }

    // ------------------------------------------------------------------ reload

    @Test
    @Clause("X-1")
    void reload_ofNewFiles_isForNewHandshakesOnly() throws IOException {
        Path both = Certificates.selfSigned(directory.resolve("a.pem"), Instant.now(), "before");
        Tls changing = Tls.server(both, both);
        Tls copy = changing.withProtocols("h2");
        Tls anybody = Tls.client().withoutVerification();
        meet(changing, anybody, "localhost");
        assertThat(shown()).isEqualTo("CN=before");
        TlsEnd oldServer = serverEnd;
        TlsEnd oldClient = clientEnd;

        Certificates.selfSigned(both, Instant.now(), "after");
        changing.reload();

        meet(changing, anybody, "localhost");
        assertThat(shown()).isEqualTo("CN=after");
        assertThat(agreed().resumed()).isFalse();
        meet(copy, anybody, "localhost");
        assertThat(shown()).as("of a copy with the same files").isEqualTo("CN=after");
        oldClient.write("still there?");
        TlsEnd.talk(oldClient, oldServer);
        assertThat(oldServer.text()).isEqualTo("still there?");
    }

    @Test
    @Clause("X-1")
    void reload_ofBadFiles_throwsAndChangesNothing() throws IOException {
        Path chain = copied("server.pem", Certificates.pem("server"));
        Path key = copied("server-key.pem", Certificates.key("server"));
        Tls changing = Tls.server(chain, key);
        copied("server.pem", Certificates.pem("org"));

        assertThatThrownBy(changing::reload)
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("does not match the certificate");

        meet(changing, client, "localhost");
        assertThat(shown()).isEqualTo("CN=server");

        Files.delete(chain);
        assertThatThrownBy(changing::reload).hasMessageContaining("no such file");
        copied("server.pem", Certificates.pem("server"));
        changing.reload();
        meet(changing, client, "localhost");
        assertThat(shown()).isEqualTo("CN=server");
    }

    /// A handshake uses a key and a certificate of the same load, even during reloads.
    @Test
    @Clause("X-1")
    void reload_whileOthersShakeHands_isNeverHalf() throws Exception {
        Path both = Certificates.selfSigned(directory.resolve("a.pem"), Instant.now(), "even");
        Path other = Certificates.selfSigned(directory.resolve("b.pem"), Instant.now(), "odd");
        Tls changing = Tls.server(both, both);
        Tls anybody = Tls.client().withoutVerification();
        AtomicBoolean over = new AtomicBoolean();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Integer> reloads =
                    threads.submit(
                            () -> {
                                int count = 0;
                                for (; !over.get() || count < 3; count++) {
                                    // Replaced atomically, as tools that renew certificates do.
                                    Path next = directory.resolve("next.pem");
                                    Files.write(next, Files.readAllBytes(other));
                                    Files.move(next, both, StandardCopyOption.ATOMIC_MOVE);
                                    changing.reload();
                                }
                                return count;
                            });
            try {
                for (int i = 0; i < 20; i++) {
                    meet(changing, anybody, "localhost");
                    assertThat(shown()).isIn("CN=even", "CN=odd");
                }
            } finally {
                over.set(true);
            }
            assertThat(reloads.get()).isGreaterThanOrEqualTo(3);
        }
    }

    private Path copied(String name, Path from) throws IOException {
        return Files.copy(from, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }

    // ------------------------------------------------------------------ misuse

    @Test
    @Clause("X-1")
    void with_whatMakesNoSense_throwsAtOnce() {
        assertThatThrownBy(() -> server.withServerName("localhost"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("withServerName is for clients");
        assertThatThrownBy(() -> client.withClientCertificates(ClientCertificates.REQUIRED))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> server.withVersions("SSLv3"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SSLv3");
        assertThatThrownBy(() -> server.withCipherSuites("NONE"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.withProtocols(""))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.withServerName("a b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a b'");
        for (String pattern : new String[] {"*", "a.*.b", "f*.example.org", "", "-a.org"}) {
            assertThatThrownBy(
                            () ->
                                    server.withSniCertificate(
                                            pattern,
                                            Certificates.pem("org"),
                                            Certificates.key("org")))
                    .as(pattern)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
