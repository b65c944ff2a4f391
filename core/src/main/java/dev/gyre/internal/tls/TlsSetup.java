package dev.gyre.internal.tls;

import dev.gyre.internal.base.Checks;
import dev.gyre.internal.tls.Credentials.Sources;
import dev.gyre.internal.tls.Identity.Fixed;
import dev.gyre.internal.tls.Identity.Password;
import dev.gyre.internal.tls.Identity.PemFiles;
import dev.gyre.internal.tls.Identity.Pkcs12File;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/// The implementation of [Tls]: the settings, and the engines they produce.
public final class TlsSetup implements Tls, Cloneable {
    private static final List<String> VERSIONS = List.of("TLSv1.3", "TLSv1.2");
    private static final int MAX_PROTOCOL_BYTES = 255;

    private final boolean server;

    // Effectively final: written only before a copy is published.
    private Credentials credentials;
    private @Nullable String serverName;
    private ClientCertificates clientCertificates = ClientCertificates.NONE;
    private List<String> protocols = List.of();
    private List<String> versions = VERSIONS;
    private List<String> cipherSuites = List.of();
    private Duration handshakeTimeout = Duration.ofSeconds(10);

    private TlsSetup(boolean server, Credentials credentials) {
        this.server = server;
        this.credentials = credentials;
    }

    /// Returns the implementation, as the interface permits no other.
    public static TlsSetup of(Tls tls) {
        return (TlsSetup) Objects.requireNonNull(tls, "tls");
    }

    public static Tls server(Path chain, Path key) throws IOException {
        return server(new PemFiles(chain, key, Password.NONE));
    }

    public static Tls server(Path chain, Path key, char[] password) throws IOException {
        return server(new PemFiles(chain, key, Password.of(password)));
    }

    public static Tls server(Path pkcs12, char[] password) throws IOException {
        return server(new Pkcs12File(pkcs12, Password.of(password)));
    }

    private static TlsSetup server(Identity.Source own) throws IOException {
        return new TlsSetup(true, new Credentials(Sources.of(own)));
    }

    public static Tls selfSigned(String... names) {
        List<String> of =
                names.length == 0 ? List.of("localhost", "127.0.0.1", "::1") : List.of(names);
        try {
            return server(new Fixed(SelfSignedCertificate.identity(of, Instant.now())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Tls client() {
        try {
            return new TlsSetup(false, new Credentials(Sources.of(null)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Tls withSniCertificate(String pattern, Path chain, Path key) throws IOException {
        return withName(pattern, new PemFiles(chain, key, Password.NONE));
    }

    @Override
    public Tls withSniCertificate(String pattern, Path pkcs12, char[] password) throws IOException {
        return withName(pattern, new Pkcs12File(pkcs12, Password.of(password)));
    }

    private Tls withName(String pattern, Identity.Source source) throws IOException {
        requireRole(true, "withName");
        String canonical = ServerName.canonicalPattern(pattern);
        return with(credentials.sources().withName(canonical, source));
    }

    @Override
    public Tls withCertificate(Path chain, Path key) throws IOException {
        return withCertificate(new PemFiles(chain, key, Password.NONE));
    }

    @Override
    public Tls withCertificate(Path chain, Path key, char[] password) throws IOException {
        return withCertificate(new PemFiles(chain, key, Password.of(password)));
    }

    @Override
    public Tls withCertificate(Path pkcs12, char[] password) throws IOException {
        return withCertificate(new Pkcs12File(pkcs12, Password.of(password)));
    }

    private Tls withCertificate(Identity.Source source) throws IOException {
        requireRole(false, "withCertificate");
        return with(credentials.sources().withOwn(source));
    }

    @Override
    public Tls withTrustedCertificates(Path pem) throws IOException {
        return with(
                credentials.sources().withTrustedCertificates(Objects.requireNonNull(pem, "pem")));
    }

    @Override
    public Tls withoutVerification() {
        try {
            return with(credentials.sources().withoutVerification());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Its files have been read before.
        }
    }

    private Tls with(Sources sources) throws IOException {
        Credentials loaded = new Credentials(sources);
        return with(copy -> copy.credentials = loaded);
    }

    @Override
    public Tls withClientCertificates(ClientCertificates demand) {
        requireRole(true, "withClientCertificates");
        return with(copy -> copy.clientCertificates = Objects.requireNonNull(demand, "demand"));
    }

    @Override
    public Tls withServerName(String name) {
        requireRole(false, "withServerName");
        String canonical =
                ServerName.isAddress(name)
                        ? InetAddress.ofLiteral(name).getHostAddress()
                        : ServerName.canonical(name);
        return with(copy -> copy.serverName = canonical);
    }

    @Override
    public Tls withProtocols(String... names) {
        for (String name : names) {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes == 0 || bytes > MAX_PROTOCOL_BYTES) {
                throw new IllegalArgumentException(
                        "a protocol name must have 1 to "
                                + MAX_PROTOCOL_BYTES
                                + " bytes, but has "
                                + bytes
                                + ": '"
                                + name
                                + "'");
            }
        }
        return with(copy -> copy.protocols = List.of(names));
    }

    @Override
    public Tls withVersions(String... versions) {
        return with(copy -> copy.versions = requireSubset("versions", VERSIONS, versions));
    }

    @Override
    public Tls withCipherSuites(String... names) {
        String[] known = credentials.context().getSupportedSSLParameters().getCipherSuites();
        List<String> suites = requireSubset("cipher suites", Arrays.asList(known), names);
        return with(copy -> copy.cipherSuites = suites);
    }

    private static List<String> requireSubset(String what, List<String> known, String... wanted) {
        List<String> some = List.of(wanted);
        if (some.isEmpty()) {
            throw new IllegalArgumentException(what + ": pass at least one");
        }
        if (!Set.copyOf(known).containsAll(some)) {
            throw new IllegalArgumentException(
                    what + ": supported are " + known + ", but got " + some);
        }
        return some;
    }

    @Override
    public Tls withHandshakeTimeout(Duration timeout) {
        Checks.range("handshakeTimeout", timeout, Duration.ofMillis(1), null);
        return with(copy -> copy.handshakeTimeout = timeout);
    }

    @Override
    public void reload() throws IOException {
        credentials.reload();
    }

    private void requireRole(boolean servers, String method) {
        if (server != servers) {
            throw new IllegalStateException(
                    method
                            + " is for "
                            + (servers ? "servers" : "clients")
                            + ", but this Tls is for "
                            + (server ? "servers" : "clients"));
        }
    }

    private TlsSetup with(Consumer<TlsSetup> change) {
        try {
            TlsSetup copy = (TlsSetup) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("TlsSetup is Cloneable", e);
        }
    }

    @Override
    public boolean isServer() {
        return server;
    }

    @Override
    public List<String> protocols() {
        return protocols;
    }

    @Override
    public Duration handshakeTimeout() {
        return handshakeTimeout;
    }

    @Override
    public String toString() {
        return "Tls[" + (server ? "server" : "client") + ", " + credentials.sources() + "]";
    }

    /// Creates the engine of a connection.
    ///
    /// @param host the connected host; null for a server, or if unknown
    /// @param port separates the sessions of servers on one host; ignored for a server
    /// @param scratch of the connection's loop
    /// @throws IllegalArgumentException if a client has no server name to verify
    public TlsEngine newEngine(@Nullable String host, int port, RecordScratch scratch) {
        String name = server ? null : serverNameFor(host);
        // The session cache key: a session resumes only under the name it was verified for.
        SSLEngine engine =
                name == null
                        ? credentials.context().createSSLEngine()
                        : credentials.context().createSSLEngine(name, port);
        engine.setUseClientMode(!server);
        HandshakeRecorder recorder = new HandshakeRecorder();
        SSLParameters parameters = engine.getSSLParameters();
        configure(parameters, name);
        if (server) {
            parameters.setSNIMatchers(List.of(recorder));
        }
        engine.setSSLParameters(parameters);
        return new TlsEngine(engine, scratch, name, recorder);
    }

    /// Checks that this can connect to a host.
    ///
    /// @param host as for [#newEngine]
    /// @throws IllegalArgumentException for a server, or if there is no server name to verify
    public void requireClientOf(@Nullable String host) {
        if (server) {
            throw new IllegalArgumentException(
                    "cannot connect with a server's Tls: use Tls.client(), or Stream.startTls if"
                            + " the peer is the TLS client");
        }
        serverNameFor(host);
    }

    /// Checks that this is for servers.
    ///
    /// @throws IllegalArgumentException for a client
    public void requireServer() {
        if (!server) {
            throw new IllegalArgumentException(
                    "cannot listen with a client's Tls: use Tls.server(...) or Tls.selfSigned(), or"
                            + " Stream.startTls if the peer is the TLS server");
        }
    }

    private @Nullable String serverNameFor(@Nullable String host) {
        if (serverName != null) {
            return serverName;
        }
        if (host != null) {
            return ServerName.isAddress(host) ? host : ServerName.canonical(host);
        }
        if (credentials.sources().verifies()) {
            throw new IllegalArgumentException(
                    "no server name to verify: connect by host name, or set withServerName");
        }
        return null;
    }

    private void configure(SSLParameters parameters, @Nullable String name) {
        parameters.setProtocols(versions.toArray(String[]::new));
        if (!cipherSuites.isEmpty()) {
            parameters.setCipherSuites(cipherSuites.toArray(String[]::new));
        }
        parameters.setUseCipherSuitesOrder(true);
        parameters.setApplicationProtocols(protocols.toArray(String[]::new));
        if (server) {
            switch (clientCertificates) {
                case NONE -> parameters.setNeedClientAuth(false);
                case WANTED -> parameters.setWantClientAuth(true);
                case REQUIRED -> parameters.setNeedClientAuth(true);
            }
        } else if (name != null) {
            // By default the engine sends SNI only for names with a dot. It does not support
            // underscores, as in container names: those are verified, but not sent.
            boolean asked = !ServerName.isAddress(name) && name.indexOf('_') < 0;
            parameters.setServerNames(asked ? List.of(new SNIHostName(name)) : List.of());
        }
        if (!server && credentials.sources().verifies()) {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
    }
}
