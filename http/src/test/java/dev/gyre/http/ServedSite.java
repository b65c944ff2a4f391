package dev.gyre.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// A server on a loop of its own, and a client that sends what it is told, byte by byte.
public final class ServedSite implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 20_000;

    public final EventLoop loop = EventLoop.open();
    public final HttpServer server;
    private final Thread thread;
    private final int port;

    public ServedSite(Consumer<HttpServer> setUp) {
        server = HttpServer.on(loop);
        setUp.accept(server);
        server.listen(0);
        port = ((InetSocketAddress) server.address()).getPort();
        thread = new Thread(loop::run, "served site");
        thread.start();
    }

    public Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    /// One request on a connection of its own.
    ///
    /// @param fields header fields: `Name: value`
    public Answer ask(String method, String target, String... fields) throws IOException {
        try (Socket socket = connect()) {
            return ask(socket, method, target, fields);
        }
    }

    public Answer get(String target, String... fields) throws IOException {
        return ask("GET", target, fields);
    }

    public Answer ask(Socket socket, String method, String target, String... fields)
            throws IOException {
        StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: a\r\n");
        for (String field : fields) {
            head.append(field).append("\r\n");
        }
        socket.getOutputStream().write(head.append("\r\n").toString().getBytes(ISO_8859_1));
        return Answer.read(socket.getInputStream(), method.equals("HEAD"));
    }

    /// What something is on the loop.
    public <T> T onLoop(Supplier<T> work) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        loop.submit(() -> outcome.complete(work.get()));
        return outcome.join();
    }

    @Override
    public void close() {
        loop.close();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// An answer as it arrived.
    public static final class Answer {
        private final int status;
        private final List<Map.Entry<String, String>> all;
        private final byte[] content;

        private Answer(int status, List<Map.Entry<String, String>> all, byte[] content) {
            this.status = status;
            this.all = all;
            this.content = content;
        }

        public int status() {
            return status;
        }

        /// Without what was put around it for the transfer.
        public byte[] content() {
            return content;
        }

        /// The values of a field, with commas between them; empty if there is none.
        public String field(String name) {
            return String.join(
                    ", ",
                    all.stream()
                            .filter(field -> field.getKey().equals(name.toLowerCase(Locale.ROOT)))
                            .map(Map.Entry::getValue)
                            .toList());
        }

        public boolean has(String name) {
            return all.stream()
                    .anyMatch(field -> field.getKey().equals(name.toLowerCase(Locale.ROOT)));
        }

        public String text() {
            return new String(content, ISO_8859_1);
        }

        public static Answer read(InputStream in, boolean headOnly) throws IOException {
            String[] first = line(in).split(" ", 3);
            int status = Integer.parseInt(first[1]);
            List<Map.Entry<String, String>> all = new ArrayList<>();
            Map<String, String> byName = new TreeMap<>();
            for (String line = line(in); !line.isEmpty(); line = line(in)) {
                int colon = line.indexOf(':');
                String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
                all.add(Map.entry(name, line.substring(colon + 1).strip()));
                byName.put(name, line.substring(colon + 1).strip());
            }
            byte[] content;
            String length = byName.get("content-length");
            if (headOnly || status == 204 || status == 304) {
                content = new byte[0];
            } else if ("chunked".equals(byName.get("transfer-encoding"))) {
                content = chunks(in);
            } else if (length != null) {
                content = exactly(in, Integer.parseInt(length));
            } else {
                content = in.readAllBytes();
            }
            return new Answer(status, all, content);
        }

        private static byte[] chunks(InputStream in) throws IOException {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int size = Integer.parseInt(line(in), 16);
                    size > 0;
                    size = Integer.parseInt(line(in), 16)) {
                all.writeBytes(exactly(in, size));
                line(in);
            }
            line(in);
            return all.toByteArray();
        }

        private static byte[] exactly(InputStream in, int length) throws IOException {
            byte[] bytes = in.readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException(
                        "the answer ended after " + bytes.length + " of " + length + " bytes");
            }
            return bytes;
        }

        private static String line(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new EOFException("the connection ended within: " + line);
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }
    }
}
