package dev.gyre.http.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.http.Request;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.Test;

import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.CompletableFuture;

/// An answer that was begun does not end before all that it announced was sent.
class AnnouncedContentTest {
    /// Announces ten bytes, and wants to end after fewer.
    private static Promise<?> tooFew(Request request, CompletableFuture<Throwable> thrown) {
        Exchange exchange = ((ServerRequest) request).exchange();
        ServerFileExchange serving = new ServerFileExchange(exchange, new ServerResponse(exchange));
        ResponseState response = serving.exchange().response;
        response.beginWith(HeaderLines.TEXT, 10).stream().write("few");
        try {
            serving.complete(3);
            thrown.complete(new AssertionError("nothing was thrown"));
        } catch (IllegalStateException e) {
            thrown.complete(e);
        }
        return serving.begun();
    }

    @Clause("H-4")
    @Test
    void complete_beforeAllThatWasAnnounced_cutsTheConnection() throws Exception {
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        try (ServedSite site =
                        new ServedSite(
                                server ->
                                        server.get("/few", (request, _) -> tooFew(request, thrown))
                                                .get("/b", (_, response) -> response.text("b")));
                Socket socket = site.connect()) {
            String both = "GET /few HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
            socket.getOutputStream().write(both.getBytes(ISO_8859_1));
            assertThat(thrown.join())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("10 bytes")
                    .hasMessageContaining("after 3");
            assertThat(received(socket)).doesNotContain("\r\n\r\nb").doesNotContain("fewHTTP");
        }
    }

    /// Everything until the end, or the cut.
    private static String received(Socket socket) throws Exception {
        StringBuilder all = new StringBuilder();
        InputStream in = socket.getInputStream();
        try {
            for (int c = in.read(); c >= 0; c = in.read()) {
                all.append((char) c);
            }
        } catch (SocketException reset) {
            // That shows it as well.
        }
        return all.toString();
    }
}
