package dev.gyre.cli.serve;

import dev.gyre.EventLoop;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Sends the same request repeatedly, on many concurrent connections that open and close in waves.
///
/// The start-up cache also contains method profiles: types, call counts and branches. With them, a
/// server compiles the right methods from the first request on, for the actual branches. Without
/// closed connections in the profile, the JIT would compile each close check as never taken, and
/// again after the first close. The client does not use Gyre, because its calls would count as the
/// server's.
final class TrainingLoad {
    private static final byte[] REQUEST =
            "GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII);

    private static final String BODY = "Hello, World!";

    private static final int WAVES = 8;
    private static final int CONNECTIONS_EACH = 64;
    private static final int REQUESTS_EACH = 64;

    static final int CONNECTIONS = WAVES * CONNECTIONS_EACH;

    /// The total number of requests.
    static final int REQUESTS = CONNECTIONS * REQUESTS_EACH;

    private static final int MAX_RESPONSE_BYTES = 1_024;

    /// A server that does not respond must not block a build.
    private static final int TIMEOUT_MILLIS = 10_000;

    private TrainingLoad() {}

    /// Starts on its own thread.
    ///
    /// @param done called on the loop's thread once all responses arrived
    /// @param failed called there instead on a failure
    static void begin(EventLoop loop, InetSocketAddress server, Runnable done, Runnable failed) {
        Thread _ =
                Thread.ofPlatform()
                        .name("waves")
                        .daemon()
                        .start(
                                () -> {
                                    try {
                                        run(server);
                                    } catch (IOException e) {
                                        loop.submit(failed);
                                        throw new UncheckedIOException(e); // for the build's log
                                    }
                                    loop.submit(done);
                                });
    }

    private static void run(InetSocketAddress server) throws IOException {
        for (int i = 0; i < WAVES; i++) {
            List<Socket> wave = new ArrayList<>();
            try {
                for (int j = 0; j < CONNECTIONS_EACH; j++) {
                    Socket socket = new Socket(server.getAddress(), server.getPort());
                    wave.add(socket);
                    socket.setSoTimeout(TIMEOUT_MILLIS);
                }
                for (int j = 0; j < REQUESTS_EACH; j++) {
                    exchange(wave);
                }
            } finally {
                close(wave);
            }
        }
    }

    private static void exchange(List<Socket> wave) throws IOException {
        for (Socket each : wave) {
            each.getOutputStream().write(REQUEST);
        }
        byte[] response = new byte[MAX_RESPONSE_BYTES];
        for (Socket each : wave) {
            InputStream in = each.getInputStream();
            int length = 0;
            while (!isWhole(response, length)) {
                int more = in.read(response, length, response.length - length);
                if (more <= 0) {
                    throw new IOException("no response: " + text(response, length));
                }
                length += more;
            }
        }
    }

    private static boolean isWhole(byte[] response, int length) {
        return length > 0
                && response[length - 1] == '!' // avoids decoding each time
                && text(response, length).endsWith("\r\n\r\n" + BODY);
    }

    private static String text(byte[] response, int length) {
        return new String(response, 0, length, StandardCharsets.US_ASCII);
    }

    /// Closes some in the middle of a request, and some between requests.
    private static void close(List<Socket> wave) throws IOException {
        for (int i = 0; i < wave.size(); i++) {
            try (Socket socket = wave.get(i)) {
                if (i % 2 == 0) {
                    socket.getOutputStream().write(REQUEST);
                }
                if (i % 4 < 2) {
                    socket.setSoLinger(true, 0); // A reset instead of a normal close.
                }
            }
        }
    }
}
