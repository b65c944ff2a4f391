package dev.gyre.http.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.CancellationSource;
import dev.gyre.Promise;
import dev.gyre.http.ClientRequest;
import dev.gyre.http.ClientResponse;
import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// A response whose body is read piece by piece. Created by [TestRequest#stream()].
///
/// ```java
/// var stream = client.get("/log").stream().expectStatus(200).expectText("first\n");
/// world.advance(Duration.ofSeconds(1));
/// stream.expectText("second\n").expectEnd();
/// ```
public final class TestStream implements AutoCloseable {
    private final TestClient client;
    private final TestRequest request;
    private final Signal signal;
    private final CancellationSource cancellation = new CancellationSource();

    // Shared: written by the loop thread.
    private volatile @Nullable ClientRequest call;
    private volatile @Nullable ClientResponse head;
    private volatile boolean ended;
    private volatile @Nullable Throwable failure;

    // Shared: an immutable copy is published with each change.
    private volatile byte[] received = {};

    TestStream(TestClient client, TestRequest request) {
        this.client = client;
        this.request = request;
        signal = new Signal(client.driver.loop);
    }

    /// Returns a promise for the head.
    Promise<ClientResponse> start(
            ClientRequest call, Supplier<? extends Promise<ClientResponse>> send) {
        this.call = call;
        call.cancelOn(cancellation.cancellation())
                .onHead(
                        arrived -> {
                            head = arrived;
                            signal.changed();
                        })
                .onData(
                        data -> {
                            byte[] bytes = new byte[data.readable()];
                            data.get(bytes);
                            append(bytes);
                            signal.changed();
                        });
        Promise<?> _ = send.get().then(_ -> onEnd(null), this::onEnd);
        return signal.until(() -> head != null || ended)
                .then(
                        _ -> {
                            ClientResponse arrived = head;
                            if (arrived == null) {
                                throw new IOException(String.valueOf(failure), failure);
                            }
                            return arrived;
                        });
    }

    private void append(byte[] bytes) {
        byte[] all = Arrays.copyOf(received, received.length + bytes.length);
        System.arraycopy(bytes, 0, all, received.length, bytes.length);
        received = all;
    }

    private boolean onEnd(@Nullable Throwable reason) {
        ended = true;
        failure = reason;
        signal.changed();
        return true;
    }

    private ClientResponse head() {
        return Objects.requireNonNull(head, "the stream has a head");
    }

    // ------------------------------------------------------------------ head

    /// Returns the status code.
    public int status() {
        return head().status();
    }

    /// Returns the headers.
    public Headers headers() {
        return head().headers();
    }

    /// Returns the value of the first header with that name; `null` if absent.
    public @Nullable String header(String name) {
        return headers().get(name);
    }

    /// Expects a status code.
    ///
    /// @return this stream
    public TestStream expectStatus(int status) {
        if (status() != status) {
            throw failure("expected status " + status + " but was " + status());
        }
        return this;
    }

    /// Expects a header with this value.
    ///
    /// @return this stream
    public TestStream expectHeader(String name, String value) {
        if (!value.equals(header(name))) {
            throw failure("expected header " + name + ": " + value + " but was " + header(name));
        }
        return this;
    }

    // ------------------------------------------------------------------ body

    /// Waits for the next bytes of the body and returns them.
    ///
    /// @throws AssertionError if the body ends before
    public byte[] next(int count) {
        byte[] bytes = take(() -> received.length >= count, count);
        if (bytes.length < count) {
            throw failure(
                    "expected " + count + " more bytes but the body ended after " + bytes.length);
        }
        return bytes;
    }

    /// Waits for the next line of the body and returns it without its end; `null` at the end of the
    /// body.
    @Nullable String nextLine() {
        byte[] line = take(() -> lineLength() > 0, -1);
        if (line.length == 0) {
            return null;
        }
        String text = new String(line, UTF_8);
        int end = text.endsWith("\r\n") ? 2 : text.endsWith("\n") ? 1 : 0;
        return text.substring(0, text.length() - end);
    }

    /// Waits for as many bytes as the text has in UTF-8, and compares them.
    ///
    /// @return this stream
    public TestStream expectText(String text) {
        int count = text.getBytes(UTF_8).length;
        String actual = new String(take(() -> received.length >= count, count), UTF_8);
        if (!actual.equals(text)) {
            throw failure("expected \"" + text + "\" but was \"" + actual + "\"");
        }
        return this;
    }

    /// Waits for the end of the body.
    ///
    /// @throws AssertionError if the body has unread bytes, or is incomplete
    public void expectEnd() {
        byte[] rest = take(() -> received.length > 0, Integer.MAX_VALUE);
        if (rest.length > 0) {
            throw failure("expected the end but received \"" + TestResponse.show(rest) + "\"");
        }
        if (failure != null) {
            throw failure("expected a complete body but the stream failed: " + failure);
        }
    }

    /// Skips the rest of the body and waits for the loss of the connection before its end.
    public void expectTruncated() {
        byte[] _ = take(() -> false, Integer.MAX_VALUE);
        if (failure == null) {
            throw failure("expected a lost connection but the body is complete");
        }
    }

    /// Stops reading until [#resume()], like a slow client.
    ///
    /// @return this stream
    public TestStream pause() {
        client.driver.call(() -> Objects.requireNonNull(call, "call").pause());
        return this;
    }

    /// Reads again after [#pause()].
    ///
    /// @return this stream
    public TestStream resume() {
        client.driver.call(() -> Objects.requireNonNull(call, "call").resume());
        return this;
    }

    /// Closes the connection unless the body is complete.
    @Override
    public void close() {
        cancellation.cancel("the TestStream was closed");
    }

    private int lineLength() {
        byte[] bytes = received;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                return i + 1;
            }
        }
        return ended ? bytes.length : 0;
    }

    /// Waits for the condition or the end, and removes bytes from the received ones.
    ///
    /// @param count the maximum; -1 for one line
    private byte[] take(BooleanSupplier condition, int count) {
        try {
            return client.driver.await(
                    () ->
                            signal.until(() -> ended || condition.getAsBoolean())
                                    .then(
                                            _ -> {
                                                int bytes = count < 0 ? lineLength() : count;
                                                return remove(bytes);
                                            }));
        } catch (LoopDriver.WaitFailedException e) {
            throw failure("expected more of the body: " + e.getMessage());
        }
    }

    private byte[] remove(int count) {
        byte[] all = received;
        int end = Math.min(count, all.length);
        received = Arrays.copyOfRange(all, end, all.length);
        return Arrays.copyOf(all, end);
    }

    AssertionError failure(String message) {
        String unread = TestResponse.show(received);
        return client.driver.failure(
                "%s\n\n%s\n\n%s\nunread: %s"
                        .formatted(message, request, TestResponse.showHead(head()), unread),
                failure);
    }
}
