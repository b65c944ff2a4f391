package dev.gyre.io;

import dev.gyre.internal.tls.TlsSetup;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Configures TLS: identity, trust, protocols and versions. Immutable: each `with` method returns a
/// changed copy.
///
/// ```java
/// var server = Tls.server(Path.of("chain.pem"), Path.of("key.pem"))
///         .withName("*.example.org", Path.of("org.pem"), Path.of("org-key.pem"))
///         .withProtocols("http/1.1");
/// var client = Tls.client().withTrustedCertificates(Path.of("our-ca.pem"));
/// ```
///
/// **Files** are read by the method that names them, and again by [#reload()]. PEM files may
/// contain keys in PKCS#8, PKCS#1 or SEC 1, text between the blocks, any line ends, and
/// certificates in any order, in one file or several. A method throws an [IOException] if a file
/// cannot be read, and a [javax.net.ssl.SSLException] with its name, the cause and the remedy if
/// its content is unusable. An expired certificate is used, with a warning in the log.
///
/// **Roles.** [#withSniCertificate] and [#withClientCertificates] throw an [IllegalStateException]
/// for a client configuration, [#withCertificate] and [#withServerName] for a server configuration.
///
/// **Sessions** are resumed between uses of this object and its copies.
///
/// **Threads.** Any, and any number of loops. Methods that name files block while they read.
public sealed interface Tls permits TlsSetup {
    /// Selects whether a server requests certificates from its clients.
    enum ClientCertificates {
        /// Requests none.
        NONE,

        /// Requests a certificate, and accepts clients without one. An untrusted one is rejected.
        WANTED,

        /// Accepts clients with a trusted certificate only.
        REQUIRED
    }

    /// Creates a server configuration from PEM files. Both paths may name the same file.
    static Tls server(Path certificateChainPem, Path privateKeyPem) throws IOException {
        return TlsSetup.server(certificateChainPem, privateKeyPem);
    }

    /// Creates a server configuration from PEM files with an encrypted private key.
    ///
    /// @param password of the key; kept for [#reload()]
    static Tls server(Path certificateChainPem, Path privateKeyPem, char[] password)
            throws IOException {
        return TlsSetup.server(certificateChainPem, privateKeyPem, password);
    }

    /// Creates a server configuration from a PKCS#12 file.
    ///
    /// @param password of the file; kept for [#reload()]
    static Tls server(Path pkcs12, char[] password) throws IOException {
        return TlsSetup.server(pkcs12, password);
    }

    /// Creates a server configuration with a new key and a self-signed certificate, valid for a
    /// year. For development: clients do not trust it by default.
    ///
    /// @param names host names, such as `localhost` or `*.test`, or addresses; without any,
    ///     `localhost`, `127.0.0.1` and `::1`
    /// @throws IllegalArgumentException if one is neither
    static Tls selfSigned(String... names) {
        return TlsSetup.selfSigned(names);
    }

    /// Returns a copy with other certificates for clients that request a matching server name. An
    /// exact name has precedence over a pattern. Other clients receive the certificates of
    /// [#server].
    ///
    /// @param pattern such as `example.org`, or `*.example.org` for all names one level below; a
    ///     second call with the same pattern replaces the first
    /// @throws IllegalArgumentException if the pattern is not a host name
    Tls withSniCertificate(String pattern, Path certificateChainPem, Path privateKeyPem)
            throws IOException;

    /// Returns a copy as [#withSniCertificate(String, Path, Path)] does, with a PKCS#12 file.
    ///
    /// @throws IllegalArgumentException if the pattern is not a host name
    Tls withSniCertificate(String pattern, Path pkcs12, char[] password) throws IOException;

    /// Returns a copy that requests certificates from clients. Default [ClientCertificates#NONE].
    /// They are verified against [#withTrustedCertificates(Path)], or else against the JDK's trust
    /// store, which is rarely intended.
    Tls withClientCertificates(ClientCertificates demand);

    /// Creates a client configuration with the JDK's trust store and without a certificate.
    static Tls client() {
        return TlsSetup.client();
    }

    /// Returns a copy with a certificate for servers that request one.
    Tls withCertificate(Path certificateChainPem, Path privateKeyPem) throws IOException;

    /// Returns a copy as [#withCertificate(Path, Path)] does, with an encrypted private key.
    ///
    /// @param password of the key; kept for [#reload()]
    Tls withCertificate(Path certificateChainPem, Path privateKeyPem, char[] password)
            throws IOException;

    /// Returns a copy as [#withCertificate(Path, Path)] does, with a PKCS#12 file.
    ///
    /// @param password of the file; kept for [#reload()]
    Tls withCertificate(Path pkcs12, char[] password) throws IOException;

    /// Returns a copy that requests this server name (SNI) and verifies the server's certificate
    /// against it. Default: the host of the address.
    ///
    /// @throws IllegalArgumentException if it is neither a host name nor an address
    Tls withServerName(String name);

    /// Returns a copy that trusts only the certificates in this file and those they certify.
    Tls withTrustedCertificates(Path pem) throws IOException;

    /// Returns a copy that accepts any certificate and any name. For tests: an attacker on the
    /// network can read and change the data.
    Tls withoutVerification();

    /// Returns a copy that offers these application protocols (ALPN), the preferred one first. A
    /// server rejects clients that offer only others, and accepts clients without ALPN.
    ///
    /// @param names such as `http/1.1`; empty for no offer
    /// @throws IllegalArgumentException if one is empty or longer than 255 bytes
    Tls withProtocols(String... names);

    /// Returns a copy restricted to these versions. Default `TLSv1.3` and `TLSv1.2`.
    ///
    /// @throws IllegalArgumentException if empty, or one is neither
    Tls withVersions(String... versions);

    /// Returns a copy restricted to these cipher suites, the preferred one first. Default: those
    /// that the JDK enables.
    ///
    /// @throws IllegalArgumentException if empty, or the JDK does not support one
    Tls withCipherSuites(String... names);

    /// Returns a copy with this timeout of the handshake. Default 10 seconds.
    ///
    /// @param timeout at least a millisecond
    /// @throws IllegalArgumentException if it is shorter
    Tls withHandshakeTimeout(Duration timeout);

    /// Reads all files again. Later handshakes use their new content, and earlier sessions are not
    /// resumed. Open connections continue. Also applies to copies with the same files.
    ///
    /// @throws IOException if a file is unusable; the previous content stays in use
    void reload() throws IOException;

    /// Returns whether this is a server configuration.
    boolean isServer();

    /// Returns the application protocols offered by ALPN; empty for none.
    List<String> protocols();

    /// Returns the timeout of the handshake.
    Duration handshakeTimeout();
}
