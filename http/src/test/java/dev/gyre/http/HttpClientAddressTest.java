package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;

final class HttpClientAddressTest {
    @TempDir Path directory;

    @Test
    void request_withAnAddress_goesThereAndNamesTheHostOfTheUri() {
        var address = UnixDomainSocketAddress.of(directory.resolve("socket"));
        try (EventLoop loop = EventLoop.open();
                HttpServer server =
                        HttpServer.on(loop)
                                .get("/", (request, response) -> response.text(request.host()))
                                .listen(address, ListenerConfig.DEFAULT);
                HttpClient client =
                        HttpClient.on(loop, HttpClientConfig.DEFAULT.withAddress(address))) {
            Promise<ClientResponse> response = client.get(URI.create("http://nowhere.test/"));
            Promise<?> _ = response.finallyRun(loop::stop);
            loop.run();
            assertThat(response.outcome())
                    .isInstanceOfSatisfying(
                            Outcome.Resolved.class,
                            resolved ->
                                    assertThat(((ClientResponse) resolved.value()).text())
                                            .isEqualTo("nowhere.test"));
            assertThat(server.connections()).isEqualTo(1);
        }
    }
}
