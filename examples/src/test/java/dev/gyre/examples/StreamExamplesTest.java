package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.Set;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;

/// The examples that serve, with clients of the JDK's.
final class StreamExamplesTest {
    /// Those that are run here.
    static final Set<String> DRIVEN =
            Set.of(
                    "EchoServer.java",
                    "LineProtocol.java",
                    "MutualTls.java",
                    "Reconnect.java",
                    "TcpProxy.java",
                    "TlsEcho.java",
                    "UdpEcho.java");

    private static final String ANNOUNCED = "listening on ";
    private static final int TIMEOUT_MILLIS = 60_000;

    /// Made once: keytool is a JVM for each.
    @TempDir static Path identities;

    @TempDir Path directory;

    @BeforeAll
    static void makeIdentities() throws Exception {
        Identities.write(identities);
    }

    private void copyIdentities() throws IOException {
        for (String name : Identities.FILES) {
            Files.copy(identities.resolve(name), directory.resolve(name));
        }
    }

    private RunningExample serving(String name, String... arguments) throws IOException {
        return RunningExample.start(directory, name, arguments);
    }

    /// Where it says that it listens, as in `localhost/127.0.0.1:7777`.
    private static InetSocketAddress address(RunningExample example) throws IOException {
        String line = example.nextLine();
        assertThat(line).startsWith(ANNOUNCED);
        int port = Integer.parseInt(line.substring(line.lastIndexOf(':') + 1));
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
    }

    private static String receive(Socket socket, int bytes) throws IOException {
        return new String(socket.getInputStream().readNBytes(bytes), UTF_8);
    }

    /// Ends the output, and reads until the other side does so.
    private static String receiveRest(Socket socket) throws IOException {
        socket.shutdownOutput();
        return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }

    @Test
    void echoServer_withTwoClients_sendsEachItsOwnAndItsEnd() throws Exception {
        try (var example = serving("EchoServer.java", "0")) {
            InetSocketAddress address = address(example);
            try (Socket one = connect(address);
                    Socket other = connect(address)) {
                send(one, "hello");
                send(other, "good bye");
                assertThat(receive(other, 8)).isEqualTo("good bye");
                assertThat(receive(one, 5)).isEqualTo("hello");
                send(one, ", world");
                assertThat(receiveRest(one)).isEqualTo(", world");
                assertThat(receiveRest(other)).isEmpty(); // Or the drain waits for it.
                example.interrupt();
                assertThat(example.ends()).isEmpty();
            }
        }
    }

    @Test
    void tcpProxy_toAServer_passesOnBytesAndEndsBothWays() throws Exception {
        try (ServerSocket target = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var example = serving("TcpProxy.java", "0", "127.0.0.1", port(target));
                Socket client = connect(address(example));
                Socket server = target.accept()) {
            server.setSoTimeout(TIMEOUT_MILLIS);
            send(client, "question");
            client.shutdownOutput();
            assertThat(server.getInputStream().readAllBytes()).asString().isEqualTo("question");
            send(server, "answer");
            server.shutdownOutput();
            assertThat(client.getInputStream().readAllBytes()).asString().isEqualTo("answer");
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void reconnect_afterAClose_connectsAgainAndEndsWithItsLoop() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var example = serving("Reconnect.java", "127.0.0.1", port(server))) {
            server.setSoTimeout(TIMEOUT_MILLIS);
            for (int i = 0; i < 2; i++) {
                try (Socket connection = server.accept()) {
                    example.says("connected");
                    send(connection, "line " + i + "\n");
                    example.says("line " + i);
                }
                example.says("closed: ENDED; retrying in 100 ms");
            }
            try (Socket _ = server.accept()) {
                example.says("connected");
                example.interrupt();
                assertThat(example.ends()).as("no retry at the end").isEmpty();
            }
        }
    }

    @Test
    void tcpProxy_toNobody_saysSoAndResetsTheClient() throws Exception {
        String nobody;
        try (ServerSocket target = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = port(target);
        }
        try (var example = serving("TcpProxy.java", "0", "127.0.0.1", nobody);
                Socket client = connect(address(example))) {
            assertThat(example.nextLine()).startsWith("refused: ").contains("ECONNREFUSED");
            assertThatExceptionOfType(SocketException.class)
                    .isThrownBy(() -> client.getInputStream().read());
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    private static String port(ServerSocket socket) {
        return Integer.toString(socket.getLocalPort());
    }

    @Test
    void lineProtocol_withLinesInPiecesAndBytesBetween_answersEachInOrder() throws Exception {
        try (var example = serving("LineProtocol.java", "0");
                Socket client = connect(address(example))) {
            send(client, "one\ntw");
            assertThat(receive(client, 4)).isEqualTo("ONE\n");
            send(client, "o\ntake 6\n\n\n\n");
            assertThat(receive(client, 4)).isEqualTo("TWO\n");
            send(client, "\n\n\nthree\nfo");
            assertThat(receiveRest(client))
                    .isEqualTo("took 6 bytes\nTHREE\nwithout an end: 'fo'\n");
            example.says("closed: ENDED");
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void udpEcho_ofSomeMessages_sendsThemBackWhole() throws Exception {
        try (var example = serving("UdpEcho.java", "0");
                DatagramSocket client = new DatagramSocket()) {
            client.setSoTimeout(TIMEOUT_MILLIS);
            client.connect(address(example));
            for (String text : List.of("one", "two", "three")) {
                byte[] message = text.getBytes(UTF_8);
                client.send(new DatagramPacket(message, message.length));
                DatagramPacket back = new DatagramPacket(new byte[64], 64);
                client.receive(back);
                assertThat(new String(back.getData(), 0, back.getLength(), UTF_8)).isEqualTo(text);
            }
            example.interrupt();
            assertThat(example.ends()).containsExactly("3 sent, 0 dropped");
        }
    }

    @Test
    void tlsEcho_withFiles_servesWhoTrustsThemAndReadsThemAgain() throws Exception {
        copyIdentities();
        Path pem = directory.resolve("server.pem");
        try (var example = serving("TlsEcho.java", "0", pem.toString(), pem.toString())) {
            InetSocketAddress address = address(example);
            echoOverTls(address);
            example.says("connected by TLSv1.3");

            Path kept = Files.move(pem, directory.resolve("kept"));
            example.send("USR1");
            assertThat(example.nextLine())
                    .startsWith("certificates unchanged: ")
                    .contains("server.pem");
            Files.move(kept, pem, StandardCopyOption.REPLACE_EXISTING);
            example.send("USR1");
            example.says("certificates reloaded");

            echoOverTls(address);
            example.says("connected by TLSv1.3");
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void tlsEcho_withoutFiles_makesACertificateThatOthersDoNotTrust() throws Exception {
        copyIdentities();
        try (var example = serving("TlsEcho.java", "0")) {
            InetSocketAddress address = address(example);
            assertThatExceptionOfType(SSLHandshakeException.class)
                    .isThrownBy(() -> echoOverTls(address));
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    private void echoOverTls(InetSocketAddress address)
            throws IOException, GeneralSecurityException {
        try (Socket socket =
                trusting(directory.resolve("ca.pem")).getSocketFactory().createSocket()) {
            socket.connect(address);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            send(socket, "secret");
            assertThat(receive(socket, 6)).isEqualTo("secret");
        }
    }

    private static SSLContext trusting(Path pem) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream file = Files.newInputStream(pem)) {
            trusted.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void mutualTls_ofAFriendAndAStranger_greetsOneAndRefusesTheOther() throws Exception {
        copyIdentities();
        try (var example = serving("MutualTls.java", directory.toString())) {
            assertThat(example.ends())
                    .containsExactly(
                            "localhost says hello to CN=a friend by greeting/1",
                            "alias.test says hello to CN=a friend by greeting/1",
                            "a client without a certificate is rejected");
        }
    }
}
