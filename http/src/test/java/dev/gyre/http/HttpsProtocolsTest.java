package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.concurrent.CompletableFuture;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/// What a server over TLS agrees to speak (ALPN), with the sockets of the JDK as its peers.
class HttpsProtocolsTest extends HttpFixture {
    private static final int PATIENCE_MILLIS = 60_000;

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private void listen(Tls tls) {
        server.get("/", (_, response) -> response.text("hello"))
                .listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        ListenerConfig.DEFAULT.withTls(tls));
    }

    /// Asks on a thread of its own.
    ///
    /// @return what was agreed on and how the answer ends, or why there is none
    private String offer(String... offered) {
        int port = ((InetSocketAddress) server.address()).getPort();
        CompletableFuture<String> asked =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return ask(port, offered);
                            } catch (SSLException e) {
                                return e.getMessage();
                            } catch (IOException | GeneralSecurityException e) {
                                throw new AssertionError(e);
                            }
                        },
                        Thread::startVirtualThread);
        runUntil("the peer has its answer", asked::isDone);
        return asked.join();
    }

    private static String ask(int port, String... offered)
            throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Anyone()}, null);
        try (SSLSocket socket =
                (SSLSocket)
                        context.getSocketFactory()
                                .createSocket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(offered);
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            socket.getOutputStream()
                    .write(
                            // By a connection with TLS an https address is right.
                            "GET https://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                                    .getBytes(ISO_8859_1));
            String answer = new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
            return socket.getApplicationProtocol() + " " + contentOf(answer);
        }
    }

    @Clause("X-1")
    @Test
    void server_isSpokenToInHttp1_andRefusesWhoOffersOtherProtocolsOnly() {
        listen(Tls.selfSigned("localhost"));
        assertThat(offer("h2", "http/1.1")).isEqualTo("http/1.1 hello");
        assertThat(offer("http/1.0", "http/1.1")).isEqualTo("http/1.1 hello");
        assertThat(offer("http/1.0")).isEqualTo("http/1.0 hello");
        assertThat(offer()).as("who offers nothing").isEqualTo(" hello");
        assertThat(offer("h2")).contains("no_application_protocol");
    }

    @Clause("X-1")
    @Test
    void server_whoseTlsHasProtocols_offersThose() {
        listen(Tls.selfSigned("localhost").withProtocols("acme", "http/1.1"));
        assertThat(offer("http/1.1", "acme")).isEqualTo("acme hello");
        assertThat(offer("http/1.0")).contains("no_application_protocol");
    }

    /// Trusts everybody.
    private static final class Anyone extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
