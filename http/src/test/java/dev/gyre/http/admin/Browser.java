package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.http.JsonMapper;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A page in Chromium without a window, controlled by the DevTools protocol.
final class Browser implements AutoCloseable {
    private static final Pattern LISTENING =
            Pattern.compile("DevTools listening on ws://([^/]+)/.*");
    private static final Pattern PAGE =
            Pattern.compile(
                    "\"type\": \"page\".*?\"webSocketDebuggerUrl\": \"([^\"]+)\"", Pattern.DOTALL);

    /// The value of an evaluated expression, which is encoded like a part of a URI.
    private static final Pattern VALUE = Pattern.compile("\"value\":\"([^\"]*)\"");

    private static final int TIMEOUT_SECONDS = 60;

    private final Process process;
    private final WebSocket socket;
    private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private int lastId;

    /// @param profile an empty directory
    Browser(Path profile) throws Exception {
        requireChromium();
        process =
                new ProcessBuilder(
                                "chromium",
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                "--no-first-run",
                                "--no-proxy-server",
                                "--disable-background-networking",
                                "--user-data-dir=" + profile,
                                "--remote-debugging-port=0",
                                "about:blank")
                        .redirectErrorStream(true)
                        .start();
        try {
            socket = connect();
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    private static void requireChromium() {
        boolean found =
                Arrays.stream(System.getenv("PATH").split(":", -1))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "chromium")));
        String remedy = "no chromium on the PATH: .ci/packages installs it";
        assertThat(found || System.getenv("CI") == null).as(remedy).isTrue();
        assumeTrue(found, remedy);
    }

    private WebSocket connect() throws Exception {
        String authority = authority(process.inputReader());
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI list = URI.create("http://" + authority + "/json/list");
            String pages =
                    client.send(HttpRequest.newBuilder(list).build(), BodyHandlers.ofString())
                            .body();
            Matcher page = PAGE.matcher(pages);
            assertThat(page.find()).as("a page in %s", pages).isTrue();
            return HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(URI.create(page.group(1)), new Messages())
                    .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        }
    }

    /// Reads the output until the browser listens, and discards the rest.
    private static String authority(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.matches()) {
                Thread.ofVirtual().start(() -> output.lines().forEach(_ -> {}));
                return matcher.group(1);
            }
        }
        throw new IOException("Chromium does not start");
    }

    private final class Messages implements WebSocket.Listener {
        private final StringBuilder partial = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            partial.append(data);
            if (last) {
                messages.add(partial.toString());
                partial.setLength(0);
            }
            from.request(1);
            return CompletableFuture.completedStage(null);
        }
    }

    /// Sends a command, and waits for its result.
    private String command(String method, Map<String, Object> parameters) throws Exception {
        int id = ++lastId;
        byte[] json =
                JsonMapper.writeOnly()
                        .write(Map.of("id", id, "method", method, "params", parameters));
        WebSocket _ =
                socket.sendText(new String(json, StandardCharsets.UTF_8), true)
                        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        String message = "";
        while (!message.startsWith("{\"id\":" + id + ",")) {
            message = messages.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertThat(message).as("the result of %s %s", method, parameters).isNotNull();
        }
        return message;
    }

    void open(URI uri) throws Exception {
        String _ = command("Page.navigate", Map.of("url", uri.toString()));
        await("document.readyState === 'complete' && location.href === '" + uri + "'");
    }

    /// Sets the size of the window in CSS pixels.
    void resize(int width, int height) throws Exception {
        String _ =
                command(
                        "Emulation.setDeviceMetricsOverride",
                        Map.of(
                                "width",
                                width,
                                "height",
                                height,
                                "deviceScaleFactor",
                                1,
                                "mobile",
                                false));
    }

    void preferColours(String scheme) throws Exception {
        String _ =
                command(
                        "Emulation.setEmulatedMedia",
                        Map.of(
                                "features",
                                List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    /// Evaluates a JavaScript expression.
    ///
    /// @return its value as a string
    String evaluate(String expression) throws Exception {
        String encoded = "encodeURIComponent(String(" + expression + "))";
        String message =
                command("Runtime.evaluate", Map.of("expression", encoded, "returnByValue", true));
        Matcher value = VALUE.matcher(message);
        assertThat(value.find()).as("%s has a value: %s", expression, message).isTrue();
        return URLDecoder.decode(value.group(1), StandardCharsets.UTF_8);
    }

    /// Waits until an expression is true.
    void await(String condition) throws Exception {
        String message =
                command(
                        "Runtime.evaluate",
                        Map.of(
                                "expression",
                                """
                                new Promise(done => {
                                  const end = Date.now() + %d;
                                  const look = () => (%s) ? done('met') : Date.now() > end
                                    ? done('not met: ' + document.body.innerText) : setTimeout(look, 50);
                                  look();
                                })
                                """
                                        .formatted(1_000 * (TIMEOUT_SECONDS - 20), condition),
                                "awaitPromise",
                                true));
        assertThat(message).as(condition).contains("\"value\":\"met\"");
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            int _ = process.waitFor(); // It writes to its profile until then.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
