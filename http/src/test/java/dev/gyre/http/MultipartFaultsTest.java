package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/// Uploads in worlds where everything fails now and then.
class MultipartFaultsTest {
    private static final String DATA = "0123456789\r\n--".repeat(30_000);

    private static final byte[] BODY =
            ("--b\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n%s\r\n"
                                    .formatted(DATA)
                            + ("--b\r\nContent-Disposition: form-data; name=g; filename=y\r\n"
                                            + "\r\n%s\r\n--b--")
                                    .formatted(DATA))
                    .getBytes(US_ASCII);

    @TempDir Path directory;

    /// Returns the outcome of one upload.
    private Outcome<ClientResponse> upload(SimulatedWorld world, Faults faults, List<Path> saved) {
        HttpServer server = HttpServer.on(world.loop());
        server.post(
                "/",
                (request, response) ->
                        request.body()
                                .multipart(part -> part.saveTo(directory).thenAccept(saved::add))
                                .then(_ -> response.text("saved")));
        server.listen(90);
        world.faults(faults);
        Promise<ClientResponse> response =
                HttpClient.on(world.loop())
                        .request("POST", URI.create("http://127.0.0.1:90/"))
                        .header("Content-Type", "multipart/form-data; boundary=b")
                        .send(BODY);
        response.then(_ -> "", _ -> "");
        world.advance(Duration.ofMinutes(5));
        assertThat(response.isSettled()).isTrue();
        return response.outcome();
    }

    @Test
    @Clause("H-7")
    void upload_whileTheExecutorIsFull_is503_andLeavesNothing() {
        AtomicBoolean full = new AtomicBoolean();
        Executor executor =
                work -> {
                    if (full.get()) {
                        throw new RejectedExecutionException("full");
                    }
                    Thread.startVirtualThread(work);
                };
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withExecutor(executor))) {
            HttpServer server =
                    HttpServer.on(loop)
                            .post(
                                    "/",
                                    (request, response) -> {
                                        full.set(true);
                                        return request.body()
                                                .multipart(part -> part.saveTo(directory))
                                                .then(_ -> response.text("saved"));
                                    })
                            .listen("127.0.0.1", 0);
            Promise<ClientResponse> response =
                    HttpClient.on(loop)
                            .request("POST", server.uri())
                            .header("Content-Type", "multipart/form-data; boundary=b")
                            .send(BODY);
            response.finallyRun(loop::stop);
            loop.run();
            assertThat(response.outcome())
                    .isInstanceOfSatisfying(
                            Outcome.Resolved.class,
                            outcome ->
                                    assertThat(((ClientResponse) outcome.value()).status())
                                            .isEqualTo(503));
            assertThat(files()).isEmpty();
        }
    }

    private List<Path> files() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void requireWhole(List<Path> saved) {
        assertThat(files()).containsExactlyInAnyOrderElementsOf(saved).hasSize(2);
        try {
            for (Path file : saved) {
                assertThat(Files.readString(file).equals(DATA)).isTrue();
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Clause("H-7")
    void upload_inAnyPieces_isSavedWhole() {
        SimulatedWorld.eachSeed(
                20,
                world -> {
                    List<Path> saved = new ArrayList<>();
                    assertThat(upload(world, Faults.harmless(), saved))
                            .isInstanceOf(Outcome.Resolved.class);
                    requireWhole(saved);
                });
    }

    @Test
    @Clause("H-7")
    void upload_amongFaults_isSavedWhole_orLeavesNothing() {
        SimulatedWorld.eachSeed(
                40,
                world -> {
                    List<Path> saved = new ArrayList<>();
                    Outcome<ClientResponse> outcome = upload(world, Faults.all(), saved);
                    boolean succeeded =
                            outcome instanceof Outcome.Resolved<ClientResponse>(var response)
                                    && response.status() == 200;
                    if (succeeded || !files().isEmpty()) {
                        requireWhole(saved); // Perhaps only the response was lost.
                    }
                });
    }
}
