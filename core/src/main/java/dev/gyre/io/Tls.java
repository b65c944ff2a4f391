package dev.gyre.io;

import dev.gyre.internal.tls.TlsSetup;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// How to speak TLS: as whom, with whom, and which dialect. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var server = Tls.server(Path.of("chain.pem"), Path.of("key.pem"))
///         .withName("*.example.org", Path.of("org.pem"), Path.of("org-key.pem"))
///         .withProtocols("http/1.1");
/// var client = Tls.client().withTrust(Path.of("our-ca.pem"));
/// ```
///
/// **Files** are read at once, in the method that names them, and again by [#reload()]. PEM files are taken as they are: keys in
/// PKCS#8, PKCS#1 or SEC 1, text between the blocks, any line ends, certificates in any order, all in one file or not. What
/// cannot be used is refused with the file, the cause and the remedy; a certificate that has expired is used, with a
/// warning in the log.
///
/// **Sessions** are resumed, for as long as this object and its copies are used.
///
/// **Threads.** Any, and any number of loops. The methods that name files block while they read them.
public sealed interface Tls permits TlsSetup {
    /// What a server asks of its clients.
    enum ClientCertificates {
        /// Clients are not asked for certificates.
        NONE,

        /// Clients are asked, and may have none; one that is not trusted is refused.
        WANTED,

        /// Only clients with a trusted certificate are let in.
        REQUIRED
    }

    // ------------------------------------------------------------------ servers

    /// A server with its certificates and key in PEM files, which may be the same file.
    ///
    /// @throws IOException if a file cannot be read; a [javax.net.ssl.SSLException] if it does not hold what is needed
    static Tls server(Path certificateChainPem, Path privateKeyPem) throws IOException {
        return TlsSetup.server(certificateChainPem, privateKeyPem);
    }

    /// A server whose private key is encrypted.
    ///
    /// @param password of the key; kept for [#reload()]
    /// @throws IOException as [#server(Path, Path)]
    static Tls server(Path certificateChainPem, Path privateKeyPem, char[] password)
            throws IOException {
        return TlsSetup.server(certificateChainPem, privateKeyPem, password);
    }

    /// A server with everything in one PKCS#12 file.
    ///
    /// @param password of the file; kept for [#reload()]
    /// @throws IOException as [#server(Path, Path)]
    static Tls server(Path pkcs12, char[] password) throws IOException {
        return TlsSetup.server(pkcs12, password);
    }

    /// A server with a new key and a certificate that vouches for itself, valid for a year. For development: clients do not
    /// trust it unless told to.
    ///
    /// @param names of hosts, such as `localhost` or `*.test`, or addresses; none for `localhost`, `127.0.0.1` and `::1`
    /// @throws IllegalArgumentException if one is neither
    static Tls selfSigned(String... names) {
        return TlsSetup.selfSigned(names);
    }

    /// A copy of a server's with other certificates for clients that ask for a certain name. An exact name goes before
    /// a pattern, and clients that ask for an unknown name, or for none, get those of [#server].
    ///
    /// @param pattern such as `example.org`, or `*.example.org` for all names one level below; given
    ///     again, it is replaced
    /// @throws IOException as [#server(Path, Path)]
    /// @throws IllegalArgumentException if it is no name
    /// @throws IllegalStateException if this is a client's
    Tls withName(String pattern, Path certificateChainPem, Path privateKeyPem) throws IOException;

    /// The same with everything in one PKCS#12 file.
    ///
    /// @throws IOException as [#server(Path, Path)]
    /// @throws IllegalArgumentException if it is no name
    /// @throws IllegalStateException if this is a client's
    Tls withName(String pattern, Path pkcs12, char[] password) throws IOException;

    /// A copy of a server's that asks this of its clients. Default [ClientCertificates#NONE]. Their certificates are checked
    /// against [#withTrust(Path)], and without that against what the JDK trusts, which is rarely meant.
    ///
    /// @throws IllegalStateException if this is a client's
    Tls withClientCertificates(ClientCertificates demand);

    // ------------------------------------------------------------------ clients

    /// A client that trusts whom the JDK trusts and has no certificate of its own.
    static Tls client() {
        return TlsSetup.client();
    }

    /// A copy of a client's that shows a certificate to servers that ask for one.
    ///
    /// @throws IOException as [#server(Path, Path)]
    /// @throws IllegalStateException if this is a server's
    Tls withCertificate(Path certificateChainPem, Path privateKeyPem) throws IOException;

    /// The same with an encrypted private key.
    ///
    /// @throws IOException as [#server(Path, Path)]
    /// @throws IllegalStateException if this is a server's
    Tls withCertificate(Path certificateChainPem, Path privateKeyPem, char[] password)
            throws IOException;

    /// The same with everything in one PKCS#12 file.
    ///
    /// @throws IOException as [#server(Path, Path)]
    /// @throws IllegalStateException if this is a server's
    Tls withCertificate(Path pkcs12, char[] password) throws IOException;

    /// A copy of a client's that asks for this name, and wants the server's certificate to be of it. Default: the host
    /// that was connected to.
    ///
    /// @throws IllegalArgumentException if it is neither a name nor an address
    /// @throws IllegalStateException if this is a server's
    Tls withServerName(String name);

    // ------------------------------------------------------------------ both

    /// A copy that trusts the certificates in this file and whoever was certified by them, and nobody else.
    ///
    /// @throws IOException as [#server(Path, Path)]
    Tls withTrust(Path pem) throws IOException;

    /// A copy that believes any certificate, and any name on it. For tests: whoever can reach the connection can read
    /// and change what is sent.
    Tls withoutVerification();

    /// A copy that offers these protocols of the application (ALPN), the preferred one first. A server refuses clients that
    /// offer others only; with those that offer none it goes on without.
    ///
    /// @param names such as `http/1.1`; none for no offer
    /// @throws IllegalArgumentException if one is empty or longer than 255 bytes
    Tls withProtocols(String... names);

    /// A copy that speaks only these versions. Default `TLSv1.3` and `TLSv1.2`.
    ///
    /// @throws IllegalArgumentException if there is none, or one is neither
    Tls withVersions(String... versions);

    /// A copy that uses only these cipher suites, the preferred one first. Default: those that the JDK enables.
    ///
    /// @throws IllegalArgumentException if there is none, or the JDK does not have one
    Tls withCipherSuites(String... names);

    /// A copy that gives up when the handshake has taken so long. Default ten seconds.
    ///
    /// @param timeout at least a millisecond
    Tls withHandshakeTimeout(Duration timeout);

    /// Reads all files again. Handshakes from now on use what is in them now, and no earlier session is resumed;
    /// connections that exist go on. It holds for this object, and for copies that differ in no file.
    ///
    /// @throws IOException if something is wrong with one of them; everything stays in use as it was
    void reload() throws IOException;

    // ------------------------------------------------------------------ looking

    /// Whether it is a server's.
    boolean isServer();

    /// What it offers by ALPN.
    List<String> protocols();

    /// How long a handshake may take.
    Duration handshakeTimeout();
}
