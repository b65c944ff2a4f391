package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.http.internal.memory.HeapBudget;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Clause H-7: multipart uploads as every backend keeps them.
@SuppressWarnings("StringConcatToTextBlock") // Each line end is part of the body.
abstract class MultipartContract extends HttpFixture {
    @TempDir Path directory;

    /// Whether the test left complete files.
    private boolean filesExpected;

    private boolean loopClosed;

    @AfterEach
    void nothingElseIsOnDisk_andTheHeapBudgetIsReleased() {
        if (!loopClosed) {
            runUntil("the heap budget is released", () -> heldBytes() == 0);
        }
        loop.close();
        if (!filesExpected) {
            assertThat(saved().keySet()).as("files left in the directory").isEmpty();
        }
        assertThat(saved().keySet()).noneMatch(name -> name.endsWith(".part"));
    }

    private long heldBytes() {
        return HeapBudget.of(loop).usedBytes();
    }

    private Map<String, String> saved() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.collect(
                    Collectors.toMap(
                            file -> Objects.toString(file.getFileName()), MultipartContract::read));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "deleted meanwhile";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String text(String name, String value) {
        return "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
                .formatted(name, value);
    }

    private static String file(String name, String fileName, String data) {
        return ("--b\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
                        + "Content-Type: text/csv\r\n\r\n%s\r\n")
                .formatted(name, fileName, data);
    }

    private static String post(String body) {
        return head(body.length()) + body;
    }

    private static String head(long length) {
        return "POST /u HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                + "Content-Length: "
                + length
                + "\r\n\r\n";
    }

    /// A route that saves all files and sends the text fields.
    private void saving() {
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(part -> part.saveTo(directory, part.fileName()))
                                .then(
                                        form ->
                                                response.text(
                                                        form.names() + " " + form.getAll("t"))));
    }

    @Test
    @Clause("H-7")
    void upload_ofTextAndFiles_isSaved_howeverItIsSplit() {
        saving();
        filesExpected = true;
        for (int piece : new int[] {1, 7, 100_000}) {
            String body =
                    text("t", "1")
                            + file("f", piece + ".csv", "a\r\nb")
                            + text("t", "2")
                            + file("f", piece + "-empty", "")
                            + file("none", "", "")
                            + "--b--\r\n";
            Talk talk = connect().sendInPieces(post(body), piece);
            assertThat(talk.answer(200)).isEqualTo("[t] [1, 2]");
            assertThat(talk.send(request("/none")).answer(404)).isNotEmpty();
        }
        assertThat(saved())
                .isEqualTo(
                        Map.of(
                                "1.csv",
                                "a\r\nb",
                                "7.csv",
                                "a\r\nb",
                                "100000.csv",
                                "a\r\nb",
                                "1-empty",
                                "",
                                "7-empty",
                                "",
                                "100000-empty",
                                ""));
    }

    @Test
    @Clause("H-7")
    void largeFile_isSavedWhole() {
        configure(HttpConfig.DEFAULT.withMaxBody(10 << 20));
        saving();
        filesExpected = true;
        StringBuilder data = new StringBuilder();
        for (int i = 0; data.length() < 3 << 20; i++) {
            data.append(i).append("\r\n--");
        }
        String body = file("f", "large", data.toString()) + text("t", "x") + "--b--";
        Talk talk = connect();
        String request = post(body);
        for (int at = 0; at < request.length(); at += 50_000) {
            talk.send(request.substring(at, Math.min(request.length(), at + 50_000)));
            turn();
        }
        assertThat(talk.answer(200)).isEqualTo("[t] [x]");
        assertThat(data.toString().equals(saved().get("large"))).isTrue();
    }

    @Test
    @Clause("H-7")
    void file_withoutAName_getsARandomOne_andAnExistingOneIsNotReplaced() throws IOException {
        filesExpected = true;
        Files.writeString(directory.resolve("x"), "old");
        List<Path> paths = new ArrayList<>();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part ->
                                                part.name().equals("r")
                                                        ? part.saveTo(directory.resolve("new/dir"))
                                                                .thenAccept(paths::add)
                                                        : part.saveTo(directory, part.fileName()))
                                .then(_ -> response.send()));
        String random = file("r", "x", "1") + file("r", "x", "2");
        assertThat(connect().send(post(random + "--b--")).answer(200)).isEmpty();
        assertThat(paths).hasSize(2).doesNotHaveDuplicates();
        assertThat(paths.stream().map(MultipartContract::read)).containsExactly("1", "2");
        assertThat(connect().send(post(file("f", "x", "new") + "--b--")).answer(409))
                .isEqualTo("a file named x exists\n");
        for (Path path : paths) {
            Files.delete(path);
        }
        Files.delete(directory.resolve("new/dir"));
        Files.delete(directory.resolve("new"));
        assertThat(saved()).isEqualTo(Map.of("x", "old"));
    }

    @Test
    @Clause("H-7")
    void fileName_isABaseName() {
        List<String> names = new ArrayList<>();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part -> {
                                            names.add(part.fileName());
                                            return part.bytes();
                                        })
                                .then(_ -> response.send()));
        StringBuilder body = new StringBuilder();
        for (String name :
                List.of(
                        "../../etc/passwd",
                        "C:\\\\x\\\\y.txt",
                        "C:\\x\\z.txt",
                        "..",
                        "a/",
                        " . ",
                        ".htaccess",
                        "... ..x",
                        "\u00c3\u00a4.txt",
                        "a\u00e2\u0080\u00aetxt.exe",
                        "n".repeat(300))) {
            body.append(file("f", name, "x"));
        }
        connect().send(post(body + "--b--")).answer(200);
        assertThat(names)
                .containsExactly(
                        "passwd",
                        "y.txt",
                        "z.txt",
                        "file",
                        "file",
                        "file",
                        "htaccess",
                        "x",
                        "ä.txt",
                        "atxt.exe",
                        "n".repeat(255));
        assertThat(
                        ask(
                                "POST /u HTTP/1.1\r\nHost: a\r\nContent-Type:"
                                        + " multipart/form-data; boundary=\"b\"\r\nContent-Length:"
                                        + " 98",
                                "--b\r\nContent-Disposition: form-data; name=f; filename=x;"
                                        + " filename*=UTF-8''%E2%82%AC.x\r\n\r\n\r\n--b--\r\n"))
                .startsWith("HTTP/1.1 200 ");
        assertThat(names.getLast()).isEqualTo("€.x");
    }

    @Test
    @Clause("H-7")
    void part_isReadAsBytes_text_orCallbacks_orSkipped() {
        List<String> events = new ArrayList<>();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part ->
                                                switch (part.name()) {
                                                    case "bytes" -> size(part, events);
                                                    case "text" -> part.text().then(events::add);
                                                    case "data" -> stream(part, events);
                                                    default ->
                                                            Promise.resolved(request.loop(), null);
                                                })
                                .then(_ -> response.text(String.join(", ", events))));
        String body =
                file("skip", "x", "0".repeat(100))
                        + file("bytes", "x", "12345")
                        + file("text", "x", "\u00c3\u00a4")
                        + file("data", "x", "data")
                        + file("skip", "x", "")
                        + "--b--";
        assertThat(connect().send(post(body)).answer(200))
                .isEqualTo("bytes 5, \u00c3\u00a4, text/csv, data, end 4");
    }

    private static Promise<?> size(Part part, List<String> events) {
        return part.bytes().thenAccept(bytes -> events.add("bytes " + bytes.length));
    }

    private Promise<?> stream(Part part, List<String> events) {
        events.add("" + part.contentType());
        Deferred<String> end = loop.deferred();
        part.onEnd(() -> end.resolve("end"))
                .onFailure(end::reject)
                .onData(data -> events.add(data.getText(UTF_8)));
        return end.promise().thenAccept(_ -> events.add("end " + part.size()));
    }

    @Test
    @Clause("H-7")
    void pausedPart_slowsTheClientDown_untilItIsResumed() {
        configure(HttpConfig.DEFAULT.withMaxBody(64 << 20));
        List<Part> parts = new ArrayList<>();
        Deferred<String> end = loop.deferred();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part -> {
                                            parts.add(part);
                                            part.onEnd(() -> end.resolve("end"))
                                                    .onData(_ -> part.pause());
                                            return end.promise();
                                        })
                                .then(_ -> response.text("" + parts.getFirst().size())));
        String body = file("f", "x", "y".repeat(32 << 20)) + "--b--";
        Talk talk = connect();
        String request = post(body);
        talk.send(request.substring(0, 8 << 20));
        runUntil("the part is paused", () -> !parts.isEmpty() && parts.getFirst().size() > 0);
        long size = parts.getFirst().size();
        for (int i = 0; i < 50; i++) {
            turn();
        }
        assertThat(parts.getFirst().size()).isEqualTo(size);
        int[] sent = {8 << 20};
        while (!end.promise().isSettled()) {
            parts.getFirst().resume();
            if (sent[0] < request.length() && talk.stream().pending() < 1 << 20) {
                int to = Math.min(request.length(), sent[0] + (1 << 20));
                talk.send(request.substring(sent[0], to));
                sent[0] = to;
            }
            turn();
        }
        assertThat(talk.answer(200)).isEqualTo("" + (32 << 20));
    }

    @Test
    @Clause("H-7")
    void nextPart_waitsForThePromiseOfTheOneBefore() {
        List<Deferred<String>> handled = new ArrayList<>();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part -> {
                                            Deferred<String> next = loop.deferred();
                                            handled.add(next);
                                            return part.bytes().thenCompose(_ -> next.promise());
                                        })
                                .then(form -> response.text("" + form.get("t"))));
        String body = file("f", "1", "1") + file("f", "2", "2") + text("t", "x") + "--b--";
        Talk talk = connect().send(post(body));
        for (int part = 0; part < 2; part++) {
            int number = part;
            runUntil("a part begins", () -> handled.size() > number);
            for (int i = 0; i < 20; i++) {
                turn();
            }
            assertThat(handled).hasSize(part + 1);
            handled.get(part).resolve("");
        }
        assertThat(talk.answer(200)).isEqualTo("x");
    }

    // ------------------------------------------------------------------ failures

    private void requireFailure(String request, int status, String message) {
        assertThat(connect().send(request).answer(status)).isEqualTo(message + "\n");
        assertThat(saved().keySet()).isEmpty();
    }

    @Test
    @Clause("H-7")
    void malformedUploads_are4xx_andLeaveNothing() {
        saving();
        String open = file("f", "x", "y".repeat(500_000));
        requireFailure(post(open) + "", 400, "the multipart body ends before its closing boundary");
        requireFailure(
                post(open + "--bx\r\n" + " ".repeat(100_000)),
                400,
                "a multipart boundary is not followed by a line end");
        requireFailure(
                post(file("f", "", "data") + "--b--"), 400, "field f: a file has data but no name");
        requireFailure(post(text("t", "\u00ff") + "--b--"), 400, "field t: the value is not UTF-8");
        requireFailure(
                post(
                        text("t", "")
                                .replace(
                                        "\r\n\r\n",
                                        "\r\nContent-Type: text/plain; charset=x\r\n\r\n")),
                415,
                "field t: expected text in UTF-8, not text/plain; charset=x");
        for (String type :
                List.of(
                        "multipart/form-data",
                        "multipart/form-data; boundary=",
                        "multipart/form-data; boundary=\"a b \"",
                        "multipart/form-data; boundary=\u00e4",
                        "multipart/form-data; boundary=" + "b".repeat(71))) {
            requireFailure(
                    post("").replace("multipart/form-data; boundary=b", type),
                    400,
                    "header Content-Type: expected a boundary of 1 to 70 characters");
        }
        requireFailure(
                post("").replace("multipart/form-data; boundary=b", "text/plain"),
                415,
                "header Content-Type: expected multipart/form-data, not text/plain");
        requireFailure(
                post("").replace("Content-Type: multipart/form-data; boundary=b\r\n", ""),
                415,
                "header Content-Type: expected multipart/form-data, but the header is missing");
    }

    @Test
    @Clause("H-7")
    void uploadsAboveALimit_are413_andLeaveNothing() {
        configure(HttpConfig.DEFAULT.withMaxBody(10 << 20));
        saving();
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 10_000; i++) {
            many.append(i < 20 ? file("f", "x" + i, "y") : text("t", "v"));
        }
        requireFailure(post(many + "--b--"), 413, "the multipart body has more than 1000 parts");
        requireFailure(
                post("--b\r\nX: " + "y".repeat(3 << 20)),
                413,
                "part 1: the headers have more than 8192 bytes");
        requireFailure(
                post(text("t", "v".repeat(65_537)) + "--b--"),
                413,
                "field t: more than 65536 bytes");
        server.post(
                "/small",
                (request, response) ->
                        request.body()
                                .multipart(
                                        MultipartConfig.DEFAULT.withMaxFileBytes(200_000),
                                        part -> part.saveTo(directory))
                                .then(_ -> response.send()));
        requireFailure(
                post(file("f", "x", "y".repeat(200_001)) + "--b--").replace("/u", "/small"),
                413,
                "field f: more than 200000 bytes");
    }

    @Test
    @Clause("H-7")
    void uploadLongerThanTheRequestLimit_is413_andLeavesNothing() {
        configure(HttpConfig.DEFAULT.withMaxBody(1 << 20));
        saving();
        Talk talk =
                connect().send(head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked"));
        String first = file("f", "x", "y".repeat(400_000));
        first = first.substring(0, first.length() - 2);
        talk.send(Integer.toHexString(first.length()) + "\r\n" + first + "\r\n");
        runUntil("the file is begun", () -> !saved().isEmpty());
        talk.send("100000\r\n" + "z".repeat(0x100000) + "\r\n");
        assertThat(talk.all()).startsWith("HTTP/1.1 413 ");
        runUntil("nothing is left", () -> saved().isEmpty());
    }

    /// Begins an upload of which a part is on disk.
    private Talk begun() {
        saving();
        String body = file("f", "x", "y".repeat(400_000));
        Talk talk = connect().send(head(1_000_000) + body.substring(0, body.length() - 2));
        runUntil("the file is begun", () -> !saved().isEmpty());
        assertThat(saved().keySet()).allMatch(name -> name.endsWith(".part"));
        return talk;
    }

    @Test
    @Clause("H-7")
    void clientThatDisconnects_leavesNothing() {
        begun().stream().abort();
        runUntil("nothing is left", () -> saved().isEmpty());
    }

    /// An upload that has arrived, of which a file's promise is pending.
    private Deferred<String> arrived(List<Promise<?>> uploads) {
        Deferred<String> scanned = loop.deferred();
        server.post(
                "/u",
                (request, response) -> {
                    Promise<FormData> upload =
                            request.body()
                                    .multipart(
                                            part ->
                                                    part.bytes()
                                                            .thenCompose(_ -> scanned.promise()));
                    uploads.add(upload.then(_ -> "complete", Throwable::getMessage));
                    return upload.then(_ -> response.send());
                });
        return scanned;
    }

    @Test
    @Clause("H-7")
    void clientThatDisconnects_whileAFilesPromiseIsPending_leavesNoMemoryAcquired() {
        List<Promise<?>> uploads = new ArrayList<>();
        Deferred<String> scanned = arrived(uploads);
        String body = file("f", "x", "y") + text("t", "v".repeat(4_000)) + "--b--";
        Talk talk = connect().send(post(body));
        runUntil("the file has arrived", () -> heldBytes() > 0);
        talk.stream().abort();
        runUntil("the connection is lost", () -> server.connections() == 0);
        scanned.resolve("");
        runUntil("the upload is settled", uploads.getFirst()::isSettled);
        assertThat(heldBytes()).isZero();
        assertThat(outcome(uploads.getFirst()).toString())
                .startsWith("the request ended before the upload was complete");
    }

    @Test
    @Clause("H-7")
    void responseBeforeAFilesPromise_leavesNoMemoryAcquired() {
        Deferred<String> scanned = loop.deferred();
        List<Promise<?>> uploads = new ArrayList<>();
        server.post(
                "/u",
                (request, response) -> {
                    Promise<?> upload =
                            request.body()
                                    .multipart(
                                            part ->
                                                    part.bytes()
                                                            .thenCompose(_ -> scanned.promise()));
                    uploads.add(upload.then(_ -> "complete", Throwable::getMessage));
                    return Promise.delay(loop, Duration.ofMillis(50))
                            .then(_ -> response.status(403).text("no"));
                });
        String body = file("f", "x", "y") + text("t", "v".repeat(4_000)) + "--b--";
        assertThat(connect().send(post(body)).answer(403)).isEqualTo("no");
        scanned.resolve("");
        runUntil("the upload is settled", uploads.getFirst()::isSettled);
        assertThat(heldBytes()).isZero();
    }

    @Test
    @Clause("H-7")
    void clientThatEndsItsSide_leavesNothing() {
        begun().stream().end();
        runUntil("nothing is left", () -> saved().isEmpty());
    }

    @Test
    @Clause("H-7")
    void clientThatIsTooSlow_leavesNothing() {
        configure(HttpConfig.DEFAULT.withBodyTimeout(Duration.ofMillis(100), 1 << 30));
        assertThat(begun().all()).startsWith("HTTP/1.1 408 ");
        runUntil("nothing is left", () -> saved().isEmpty());
    }

    @Test
    @Clause("H-7")
    void loopThatIsClosed_leavesNothing() {
        begun();
        loopClosed = true;
        loop.close();
        assertThat(saved().keySet()).isEmpty();
    }

    @Test
    @Clause("H-7")
    void responseBeforeTheEnd_leavesNothing() {
        List<Promise<?>> uploads = new ArrayList<>();
        server.post(
                "/u",
                (request, response) -> {
                    Promise<?> upload = request.body().multipart(p -> p.saveTo(directory));
                    uploads.add(upload.then(_ -> "", Throwable::getMessage));
                    return Promise.delay(loop, Duration.ofMillis(50))
                            .then(_ -> response.status(403).text("no"));
                });
        String body = file("f", "x", "y".repeat(400_000));
        Talk talk = connect().send(head(1_000_000) + body.substring(0, body.length() - 2));
        assertThat(talk.answer(403)).isEqualTo("no");
        runUntil("nothing is left", () -> saved().isEmpty());
        runUntil("the upload fails", uploads.getFirst()::isSettled);
    }

    @Test
    @Clause("H-7")
    void functionThatFails_failsTheUpload() {
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part ->
                                                switch (part.name()) {
                                                    case "throws" ->
                                                            throw new HttpException(422, "thrown");
                                                    case "rejects" ->
                                                            part.saveTo(directory)
                                                                    .thenCompose(
                                                                            _ -> reject("late"));
                                                    case "early" -> {
                                                        Promise<?> _ = part.saveTo(directory);
                                                        yield reject("early");
                                                    }
                                                    default ->
                                                            part.saveTo(
                                                                    Path.of("/dev/null/secret"));
                                                })
                                .then(_ -> response.send()));
        String data = "y".repeat(300_000);
        requireFailure(post(file("throws", "x", data)), 422, "thrown");
        requireFailure(post(file("early", "x", data)), 422, "early");
        assertThat(connect().send(post(file("io", "x", data))).answer(500))
                .isEqualTo("internal error\n");
        String late = connect().send(post(file("rejects", "x", data) + "--b--")).answer(422);
        assertThat(late).isEqualTo("late\n");
        assertThat(saved().keySet()).isEmpty();
    }

    @Test
    @Clause("H-7")
    void fileName_thatTheFileSystemCannotEncode_is400() {
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(part -> part.saveTo(directory, "\ud800.csv"))
                                .then(_ -> response.send()));
        assertThat(connect().send(post(file("f", "x", "y") + "--b--")).answer(400))
                .startsWith("field f: the server cannot store a file named ");
    }

    @Test
    @Clause("H-7")
    void promiseOfAnotherLoop_continuesTheUploadOnItsOwnLoop() {
        try (EventLoop other = open(LoopConfig.DEFAULT)) {
            Deferred<String> scanned = other.deferred();
            List<Part> parts = new ArrayList<>();
            server.post(
                    "/u",
                    (request, response) ->
                            request.body()
                                    .multipart(
                                            part -> {
                                                parts.add(part);
                                                return parts.size() == 1
                                                        ? scanned.promise()
                                                        : part.bytes();
                                            })
                                    .then(_ -> response.send()));
            String body = file("f", "1", "") + file("f", "2", "") + "--b--";
            Talk talk = connect().send(post(body));
            runUntil("the first file", () -> parts.size() == 1);
            scanned.resolve("");
            other.runFor(Duration.ofMillis(1));
            assertThat(parts).as("parsed by a callback of the other loop").hasSize(1);
            assertThat(talk.answer(200)).isEmpty();
            assertThat(parts).hasSize(2);
        }
    }

    private <T> Promise<T> reject(String message) {
        return Promise.rejected(loop, new HttpException(422, message));
    }

    @Test
    @Clause("H-7")
    void failedUpload_canBeRecovered() {
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(part -> part.saveTo(directory))
                                .<Promise<?>>then(_ -> response.send())
                                .recover(
                                        e ->
                                                response.status(200)
                                                        .text("try again: " + e.getMessage())));
        assertThat(connect().send(post("--b--x".substring(0, 3))).answer(200))
                .isEqualTo("try again: the multipart body ends before its closing boundary");
    }

    @Test
    @Clause("H-7")
    void failedUpload_deletesTheDirectoriesThatItCreated() throws IOException {
        Path existing = Files.createDirectory(directory.resolve("existing"));
        Path used = directory.resolve("used");
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part -> {
                                            Path parent = directory.resolve(part.name());
                                            return part.saveTo(parent, part.fileName());
                                        })
                                .then(_ -> response.text("saved")));
        String open =
                file("existing/new", "x", "1") + file("used/a/b", "x", "2") + file("c", "x", "3");
        String message = "the multipart body ends before its closing boundary\n";
        assertThat(connect().send(post(open)).answer(400)).isEqualTo(message);
        assertThat(directory)
                .isDirectoryContaining(existing::equals)
                .isDirectoryNotContaining(used::equals);
        assertThat(existing).isEmptyDirectory();
        assertThat(connect().send(post(file("used", "x", "4") + "--b--")).answer(200))
                .isEqualTo("saved");
        assertThat(connect().send(post(open)).answer(400)).isEqualTo(message);
        assertThat(used).isDirectoryContaining("glob:**x").isDirectoryNotContaining("glob:**a");
        Files.delete(used.resolve("x"));
        Files.delete(used);
        Files.delete(existing);
    }

    @Test
    @Clause("H-7")
    void partThatIsMisused_throwsWithTheRemedy() {
        List<String> messages = new ArrayList<>();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part -> {
                                            note(messages, () -> part.saveTo(directory, "../x"));
                                            note(messages, () -> part.saveTo(directory, ""));
                                            Promise<?> bytes = part.bytes();
                                            note(messages, part::text);
                                            note(messages, () -> part.onEnd(() -> {}));
                                            return bytes;
                                        })
                                .then(_ -> response.text(String.join("\n", messages))));
        assertThat(connect().send(post(file("f", "x", "y") + "--b--")).answer(200).split("\n"))
                .containsExactly(
                        "a file name without directories is expected, such as Part.fileName(), not"
                                + " ../x",
                        "a file name without directories is expected, such as Part.fileName(), not"
                                + " ",
                        "the part is read already",
                        "the part is read already");
        server.post("/null", (request, _) -> request.body().multipart(_ -> null));
        assertThat(
                        connect()
                                .send(post(file("f", "x", "y") + "--b--").replace("/u", "/null"))
                                .answer(500))
                .isEqualTo("internal error\n");
    }

    private static void note(List<String> messages, Runnable misuse) {
        try {
            misuse.run();
        } catch (RuntimeException e) {
            messages.add(e.getMessage());
        }
    }
}
