/// Mutual TLS with several server names. The argument is a directory with
/// server.pem, alias.pem and client.pem, each with a certificate and its key, and ca.pem.
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.*;

void main(String[] arguments) throws IOException {
    var files = Path.of(arguments[0]);
    var ca = files.resolve("ca.pem");
    try (var loop = EventLoop.open()) {
        var config = ListenerConfig.DEFAULT.withTls(server(files, ca));
        var address = new InetSocketAddress("localhost", 0);
        var listener = Listener.on(loop, address, config, this::greet);

        var mine = files.resolve("client.pem");
        var stranger =
                Tls.client().withTrustedCertificates(ca).withProtocols("greeting/2", "greeting/1");
        var friend = stranger.withCertificate(mine, mine);
        ask(loop, listener, friend)
                .thenAccept(IO::println)
                .thenCompose(_ -> ask(loop, listener, friend.withServerName("alias.test")))
                .thenAccept(IO::println)
                .thenCompose(_ -> ask(loop, listener, stranger))
                .recover(failure -> "a client without a certificate is rejected")
                .thenAccept(IO::println)
                .finallyRun(loop::stop);
        loop.run();
    }
}

Tls server(Path files, Path ca) throws IOException {
    var server = files.resolve("server.pem");
    var alias = files.resolve("alias.pem");
    return Tls.server(server, server)
            .withSniCertificate("alias.test", alias, alias)
            .withTrustedCertificates(ca)
            .withClientCertificates(Tls.ClientCertificates.REQUIRED)
            .withProtocols("greeting/1");
}

void greet(Stream stream) {
    var tls = stream.tls();
    var client = tls.peerCertificates().getFirst().getSubjectX500Principal().getName();
    stream.write(tls.serverName() + " says hello to " + client + " by " + tls.protocol());
    stream.close();
}

Promise<String> ask(EventLoop loop, Listener listener, Tls tls) {
    int port = ((InetSocketAddress) listener.address()).getPort();
    var byName = InetSocketAddress.createUnresolved("localhost", port);
    return Stream.connect(loop, byName, StreamConfig.DEFAULT.withTls(tls))
            .thenCompose(Stream::read)
            .then(answer -> answer.getText(UTF_8));
}
