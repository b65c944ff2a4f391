package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;

/// Uses the service of the guide "Your first service" as a client would.
final class TodoServiceTest {
    /// The examples that are run here.
    static final Set<String> DRIVEN = Set.of("TodoService.java");

    private static final String ANNOUNCED = "listening on ";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final HttpClient client =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .cookieHandler(new CookieManager())
                    .build();

    @TempDir Path directory;

    private String root = "";

    private HttpResponse<String> send(String method, String path, String type, BodyPublisher body)
            throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(root + path)).timeout(TIMEOUT);
        if (!type.isEmpty()) {
            request.header("Content-Type", type);
        }
        return client.send(request.method(method, body).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> send(String method, String path) throws Exception {
        return send(method, path, "", BodyPublishers.noBody());
    }

    private HttpResponse<String> json(String method, String path, String json) throws Exception {
        return send(method, path, "application/json", BodyPublishers.ofString(json));
    }

    private HttpResponse<String> login(String form) throws Exception {
        String type = "application/x-www-form-urlencoded";
        return send("POST", "/login", type, BodyPublishers.ofString(form));
    }

    private HttpResponse<String> upload(String path, String... files) throws Exception {
        StringBuilder body = new StringBuilder();
        for (String file : files) {
            body.append("--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"")
                    .append(file)
                    .append("\"\r\nContent-Type: text/plain\r\n\r\ncontents of ")
                    .append(file)
                    .append("\r\n");
        }
        String type = "multipart/form-data; boundary=cut";
        return send("PUT", path, type, BodyPublishers.ofString(body + "--cut--\r\n"));
    }

    private RunningExample start() throws Exception {
        RunningExample example = RunningExample.start(directory, "TodoService.java", "0");
        String line = example.nextLine();
        assertThat(line).startsWith(ANNOUNCED);
        root = line.substring(ANNOUNCED.length()).replaceFirst("/$", "");
        return example;
    }

    @Test
    void todoService_used_createsReadsUpdatesAndDeletes() throws Exception {
        try (RunningExample example = start()) {
            assertThat(send("GET", "/health").body()).isEqualTo("{\"status\":\"up\"}");
            assertThat(login("name=Ada+Lovelace").statusCode()).isEqualTo(204);

            HttpResponse<String> created = json("POST", "/api/todos", "{\"title\":\"buy milk\"}");
            assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
            assertThat(created.headers().firstValue("Location")).contains("/api/todos/1");
            String first = "{\"id\":1,\"title\":\"buy milk\",\"done\":false,\"attachment\":null}";
            assertThat(created.body()).isEqualTo(first);
            assertThat(send("GET", "/api/todos/1").body()).isEqualTo(first);
            assertThat(send("GET", "/api/todos").body()).isEqualTo("[" + first + "]");

            String done = json("PUT", "/api/todos/1", "{\"title\":\"milk\",\"done\":true}").body();
            assertThat(done).contains("\"title\":\"milk\"", "\"done\":true");
            assertThat(send("DELETE", "/api/todos/1").statusCode()).isEqualTo(204);
            assertThat(send("GET", "/api/todos/1").statusCode()).isEqualTo(404);
            client.close(); // The drain would wait for open connections.
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void todoService_withoutASession_rejectsAndKeepsUsersApart() throws Exception {
        try (RunningExample _ = start()) {
            HttpResponse<String> rejected = send("GET", "/api/todos");
            assertThat(rejected.statusCode()).isEqualTo(401);
            assertThat(rejected.headers().firstValue("Content-Type"))
                    .contains("application/problem+json");
            assertThat(login("nickname=ada").statusCode()).isEqualTo(400);
            assertThat(login("name=").statusCode()).isEqualTo(400);
            assertThat(login("name=ada").statusCode()).isEqualTo(204);
            assertThat(json("POST", "/api/todos", "{\"title\":\"x\"}").statusCode()).isEqualTo(201);
            assertThat(login("name=bob").statusCode()).isEqualTo(204);
            assertThat(send("GET", "/api/todos").body()).isEqualTo("[]");
            assertThat(send("GET", "/api/todos/1").statusCode()).isEqualTo(404);
            assertThat(send("POST", "/logout").statusCode()).isEqualTo(204);
            assertThat(send("GET", "/api/todos").statusCode()).isEqualTo(401);
            HttpRequest forged =
                    HttpRequest.newBuilder(URI.create(root + "/api/todos"))
                            .header("Cookie", "session=ada.forged")
                            .build();
            try (HttpClient other = HttpClient.newHttpClient()) {
                assertThat(other.send(forged, BodyHandlers.discarding()).statusCode())
                        .isEqualTo(401);
            }
        }
    }

    @Test
    void todoService_withBadInput_namesTheFieldAsJson() throws Exception {
        try (RunningExample _ = start()) {
            assertThat(login("name=ada").statusCode()).isEqualTo(204);
            HttpResponse<String> empty = json("POST", "/api/todos", "{\"title\":\" \"}");
            assertThat(empty.statusCode()).isEqualTo(422);
            assertThat(empty.headers().firstValue("Content-Type"))
                    .contains("application/problem+json");
            assertThat(empty.body()).endsWith("\"errors\":{\"title\":\"must not be empty\"}}");
            HttpResponse<String> mistyped =
                    json("POST", "/api/todos", "{\"title\":\"x\",\"done\":\"perhaps\"}");
            assertThat(mistyped.statusCode()).isEqualTo(400);
            assertThat(mistyped.body())
                    .endsWith("\"errors\":{\"done\":\"expected true or false\"}}")
                    .doesNotContain("java", "jackson");
            assertThat(json("POST", "/api/todos", "{").statusCode()).isEqualTo(400);
            HttpResponse<String> id = send("GET", "/api/todos/one");
            assertThat(id.statusCode()).isEqualTo(400);
            assertThat(id.body()).contains("\"errors\":{\"id\":");
            assertThat(send("GET", "/api/todos/-1").statusCode()).isEqualTo(400);
            assertThat(send("GET", "/api/todos?max=0").body()).contains("max");
            assertThat(send("GET", "/nowhere").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void todoService_givenAFile_keepsItAndOffersItAsADownload() throws Exception {
        try (RunningExample _ = start()) {
            assertThat(login("name=ada").statusCode()).isEqualTo(204);
            assertThat(json("POST", "/api/todos", "{\"title\":\"x\"}").statusCode()).isEqualTo(201);
            String attachment = "/api/todos/1/attachment";
            assertThat(send("GET", attachment).statusCode()).isEqualTo(404);
            HttpResponse<String> saved = upload(attachment, "notes.txt");
            assertThat(saved.statusCode()).as(saved.body()).isEqualTo(200);
            HttpResponse<String> found = send("GET", attachment);
            assertThat(found.body()).isEqualTo("contents of notes.txt");
            assertThat(found.headers().firstValue("Content-Disposition"))
                    .contains("attachment; filename=\"notes.txt\"");
            assertThat(upload(attachment, "new.txt").statusCode()).isEqualTo(200);
            assertThat(upload(attachment).statusCode()).as("no file").isEqualTo(400);
            assertThat(upload(attachment, "a.txt", "b.txt").statusCode()).isEqualTo(400);
            Path uploads = directory.resolve("uploads");
            try (Stream<Path> files = Files.walk(uploads)) {
                assertThat(files.map(file -> uploads.relativize(file).getNameCount()))
                        .as("the directory of uploads, and one with the new file")
                        .containsExactly(1, 1, 2);
            }
            assertThat(send("PUT", attachment).statusCode()).as("no form").isEqualTo(415);
            assertThat(send("DELETE", "/api/todos/1").statusCode()).isEqualTo(204);
            assertThat(uploads).isEmptyDirectory();
        }
    }
}
