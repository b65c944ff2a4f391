package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.tls.Certificates;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// A graceful shutdown of a proxy, with an origin and a client outside the loop.
class ProxyShutdownTest {
    private static final int FIRST = 10_000;
    private static final int ALL = 400_000;
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private final ServerSocket origin;
    private EventLoop loop;
    private Listener listener;

    ProxyShutdownTest() throws IOException {
        origin = new ServerSocket(0, 1, HERE);
    }

    @AfterEach
    void close() throws IOException {
        if (loop != null) {
            loop.close();
        }
        origin.close();
    }

    private void open(BackendKind backend, boolean tls) throws IOException {
        loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend));
        assumeTrue(
                loop.metrics().backendFallback().isEmpty(),
                "this kernel refuses " + backend + ": `gyre doctor` says why");
        ListenerConfig config =
                tls
                        ? ListenerConfig.DEFAULT.withTls(Certificates.server())
                        : ListenerConfig.DEFAULT;
        listener =
                Listener.on(
                        loop,
                        new InetSocketAddress(HERE, 0),
                        config,
                        in ->
                                Stream.connect(loop, origin.getLocalSocketAddress())
                                        .thenAccept(in::join));
        Thread.ofPlatform().start(loop::run);
    }

    private Socket client(boolean tls) throws Exception {
        InetSocketAddress address = (InetSocketAddress) listener.address();
        return tls
                ? trusting().getSocketFactory().createSocket("localhost", address.getPort())
                : new Socket(HERE, address.getPort());
    }

    private static SSLContext trusting() throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        int number = 0;
        try (InputStream pem = Files.newInputStream(Certificates.pem("ca"))) {
            for (Certificate each :
                    CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                trusted.setCertificateEntry("ca" + number++, each);
            }
        }
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @ParameterizedTest
    @CsvSource({"EPOLL, false", "EPOLL, true", "IO_URING, false", "IO_URING, true"})
    @Clause({"S-1", "N-4"})
    void shutdown_inTheMiddleOfAResponse_deliversAllOfIt(BackendKind backend, boolean tls)
            throws Exception {
        open(backend, tls);
        try (Socket client = client(tls)) {
            client.getOutputStream().write('?');
            try (Socket upstream = origin.accept()) {
                upstream.getOutputStream().write(new byte[FIRST]);
                assertThat(client.getInputStream().readNBytes(FIRST)).hasSize(FIRST);
                CompletableFuture<ShutdownReport> ended =
                        loop.shutdown(Duration.ofSeconds(60)).toCompletableFuture();
                upstream.getOutputStream().write(new byte[ALL - FIRST]);
                upstream.shutdownOutput();
                assertThat(client.getInputStream().readAllBytes())
                        .as("what follows the shutdown, up to an orderly end")
                        .hasSize(ALL - FIRST);
                client.shutdownOutput(); // Ends the other direction too.
                assertThat(ended.join().graceful()).as("%s", ended.join()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"EPOLL, false", "EPOLL, true", "IO_URING, false", "IO_URING, true"})
    @Clause({"S-2", "N-4"})
    void shutdown_pastItsDeadlineInTheMiddleOfAResponse_resetsBothPeersAndLogsThemOnce(
            BackendKind backend, boolean tls) throws Exception {
        open(backend, tls);
        try (LogCapture log = new LogCapture();
                Socket client = client(tls)) {
            client.getOutputStream().write('?');
            try (Socket upstream = origin.accept()) {
                assertThat(upstream.getInputStream().read()).isEqualTo('?');
                upstream.getOutputStream().write(new byte[FIRST]);
                assertThat(client.getInputStream().readNBytes(FIRST)).hasSize(FIRST);

                ShutdownReport report =
                        loop.shutdown(Duration.ofMillis(50)).toCompletableFuture().join();

                assertThat(report.graceful()).isFalse();
                assertThat(end(client)).as("what the client sees").isEqualTo("reset");
                assertThat(end(upstream)).as("what the origin sees").isEqualTo("reset");
                assertThat(log.messages())
                        .filteredOn(line -> line.contains("2 streams"))
                        .singleElement()
                        .asString()
                        .contains(Integer.toString(client.getLocalPort()))
                        .contains(Integer.toString(origin.getLocalPort()));
            }
        }
    }

    private static String end(Socket socket) {
        try {
            return socket.getInputStream().read() < 0 ? "end" : "data";
        } catch (SocketException e) {
            return "reset";
        } catch (IOException e) {
            return e.toString();
        }
    }
}
