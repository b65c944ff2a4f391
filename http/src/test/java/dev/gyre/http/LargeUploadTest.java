package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/// Uploads a file over a real socket and compares the memory in use before and during the upload.
///
/// The property `gyre.upload.bytes` sets the size. `-Dgyre.upload.bytes=1073741824` with a heap of
/// 64 MiB shows that memory does not depend on it.
class LargeUploadTest extends HttpFixture {
    private static final long FILE_BYTES = Long.getLong("gyre.upload.bytes", 64 << 20);
    private static final int SAMPLES = 8;

    /// The buffers of one upload, and room for all else that a JVM does meanwhile.
    private static final long MAX_GROWTH_BYTES = 8 << 20;

    @TempDir Path directory;

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private static long usedHeap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Test
    @Clause("H-7")
    void upload_ofAnySize_needsTheSameMemory() throws IOException {
        configure(HttpConfig.DEFAULT.withMaxBody(4L << 30));
        List<Path> saved = new ArrayList<>();
        List<Part> parts = new ArrayList<>();
        server.post(
                "/u",
                (request, response) ->
                        request.body()
                                .multipart(
                                        part -> {
                                            parts.add(part);
                                            return part.saveTo(directory).thenAccept(saved::add);
                                        })
                                .then(_ -> response.text("saved")));
        server.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenerConfig.DEFAULT);
        InetSocketAddress address = (InetSocketAddress) server.address();
        AtomicReference<String> outcome = new AtomicReference<>();
        long before = usedHeap();
        long start = System.nanoTime();
        Thread.ofPlatform().start(() -> outcome.set(upload(address)));
        long peak = 0;
        for (int sample = 1; sample < SAMPLES; sample++) {
            long next = FILE_BYTES / SAMPLES * sample;
            runUntil(
                    "the upload continues",
                    () ->
                            outcome.get() != null
                                    || (!parts.isEmpty() && parts.getFirst().size() >= next));
            peak = Math.max(peak, usedHeap());
        }
        runUntil("the upload is complete", () -> outcome.get() != null);
        assertThat(outcome.get()).contains("HTTP/1.1 200 ").endsWith("saved");
        assertThat(Files.size(saved.getFirst())).isEqualTo(FILE_BYTES);
        assertThat(peak - before).as("growth of the heap").isLessThan(MAX_GROWTH_BYTES);
        report(start, before, peak);
    }

    private static void report(long start, long before, long peak) throws IOException {
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        String resident =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(line -> line.startsWith("VmHWM"))
                        .findFirst()
                        .orElse("VmHWM unknown");
        IO.println(
                "upload of %d MiB in %d ms: heap in use %d KiB before, %d KiB at most; %s"
                        .formatted(
                                FILE_BYTES >> 20,
                                took.toMillis(),
                                before >> 10,
                                peak >> 10,
                                resident.replaceAll("\\s+", " ")));
    }

    private static String upload(InetSocketAddress address) {
        String head = "--b\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n";
        String tail = "\r\n--b--\r\n";
        byte[] data = new byte[64 << 10];
        Arrays.fill(data, (byte) '\r'); // Each byte could begin a delimiter.
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            OutputStream out = socket.getOutputStream();
            String request =
                    "POST /u HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                            + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: "
                            + (head.length() + FILE_BYTES + tail.length())
                            + "\r\n\r\n"
                            + head;
            out.write(request.getBytes(US_ASCII));
            for (long left = FILE_BYTES; left > 0; left -= data.length) {
                out.write(data, 0, (int) Math.min(left, data.length));
            }
            out.write(tail.getBytes(US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
