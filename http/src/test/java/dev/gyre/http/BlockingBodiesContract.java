package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Cookies, forms and uploads in blocking handlers.
abstract class BlockingBodiesContract extends HttpFixture {
    private Talk post(String type, String body) {
        return connect()
                .send(
                        "POST / HTTP/1.1\r\nHost: a\r\nCookie: c=7\r\nContent-Type: %s\r\n"
                                        .formatted(type)
                                + "Content-Length: %d\r\n\r\n%s".formatted(body.length(), body));
    }

    @Test
    @Clause({"H-7", "H-8"})
    void blockingHandler_readsAForm_andSetsACookie() {
        server.blocking(
                "POST",
                "/",
                (request, response) -> {
                    FormData form = request.body().form().await();
                    response.cookie(Cookie.of("user", form.require("user")))
                            .text(request.cookie("c") + form.get("user"));
                });
        Talk talk = post("application/x-www-form-urlencoded", "user=ada");
        talk.await("\r\nSet-Cookie: user=ada; Path=/\r\n");
        assertThat(talk.answer(200)).isEqualTo("7ada");
        assertThat(post("application/x-www-form-urlencoded", "x=").answer(400))
                .isEqualTo("field user: a value is required\n");
        assertThat(post("application/x-www-form-urlencoded", "user=%").answer(400))
                .isEqualTo("field user: the value is not URL-encoded UTF-8\n");
        assertThat(post("text/plain", "user=%").answer(415)).contains("Content-Type");
    }

    @Test
    @Clause({"H-7", "H-8"})
    void blockingHandler_savesAnUpload(@TempDir Path directory) throws IOException {
        List<Path> saved = new ArrayList<>();
        server.blocking(
                "POST",
                "/",
                (request, response) -> {
                    FormData form =
                            request.body()
                                    .multipart(
                                            part -> part.saveTo(directory).thenAccept(saved::add))
                                    .await();
                    response.text(form.get("title") + Files.readString(saved.getFirst()));
                });
        String body =
                """
                --b
                Content-Disposition: form-data; name=f; filename=x

                data
                --b
                Content-Disposition: form-data; name=title

                T
                --b--
                """
                        .replace("\n", "\r\n");
        assertThat(post("multipart/form-data; boundary=b", body).answer(200)).isEqualTo("Tdata");
        assertThat(post("multipart/form-data; boundary=b", body.substring(0, 80)).answer(400))
                .isEqualTo("the multipart body ends before its closing boundary\n");
        try (var files = Files.list(directory)) {
            assertThat(files.toList()).containsExactly(saved.getFirst());
        }
    }
}
