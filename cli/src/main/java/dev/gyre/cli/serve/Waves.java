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

/// Asks a server for the same thing over and over, on many connections at once that come and go in waves.
///
/// The start-up cache also keeps what the methods of a server were called with, how often, and where they
/// branched. A server that has it compiles the right ones from the first request on, and compiles them for what
/// happens: were no connection to end here, each place that looks for an end would be compiled as if there were none,
/// and again after the first that does. The peer is not made of Gyre for the same reason: what it does would count as
/// what servers do.
final class Waves {
    private static final byte[] REQUEST =
            "GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII);

    private static final String CONTENT = "Hello, World!";

    private static final int WAVES = 8;
    private static final int CONNECTIONS_EACH = 64;
    private static final int REQUESTS_EACH = 64;

    static final int CONNECTIONS = WAVES * CONNECTIONS_EACH;

    /// What is asked and answered altogether.
    static final int REQUESTS = CONNECTIONS * REQUESTS_EACH;

    private static final int MOST_ANSWER_BYTES = 1_024;

    /// A server that does not answer is not to keep a build waiting.
    private static final int PATIENCE_MILLIS = 10_000;

    private Waves() {}

    /// Begins, on a thread of its own.
    ///
    /// @param done called on the loop's thread when all was asked and answered
    /// @param failed called there instead if it was not
    static void begin(EventLoop loop, InetSocketAddress server, Runnable done, Runnable failed) {
        Thread _ =
                Thread.ofPlatform()
                        .name("waves")
                        .daemon()
                        .start(
                                () -> {
                                    try {
                                        come(server);
                                    } catch (IOException e) {
                                        loop.submit(failed);
                                        throw new UncheckedIOException(e); // for the build's log
                                    }
                                    loop.submit(done);
                                });
    }

    private static void come(InetSocketAddress server) throws IOException {
        for (int i = 0; i < WAVES; i++) {
            List<Socket> wave = new ArrayList<>();
            try {
                for (int j = 0; j < CONNECTIONS_EACH; j++) {
                    Socket arriving = new Socket(server.getAddress(), server.getPort());
                    wave.add(arriving);
                    arriving.setSoTimeout(PATIENCE_MILLIS);
                }
                for (int j = 0; j < REQUESTS_EACH; j++) {
                    ask(wave);
                }
            } finally {
                leave(wave);
            }
        }
    }

    private static void ask(List<Socket> wave) throws IOException {
        for (Socket each : wave) {
            each.getOutputStream().write(REQUEST);
        }
        byte[] answer = new byte[MOST_ANSWER_BYTES];
        for (Socket each : wave) {
            InputStream in = each.getInputStream();
            int length = 0;
            while (!isWhole(answer, length)) {
                int more = in.read(answer, length, answer.length - length);
                if (more <= 0) {
                    throw new IOException("no answer: " + text(answer, length));
                }
                length += more;
            }
        }
    }

    private static boolean isWhole(byte[] answer, int length) {
        return length > 0
                && answer[length - 1] == '!' // or it would be made a text each time
                && text(answer, length).endsWith("\r\n\r\n" + CONTENT);
    }

    private static String text(byte[] answer, int length) {
        return new String(answer, 0, length, StandardCharsets.US_ASCII);
    }

    /// Some in the middle of a request, and some without a word.
    private static void leave(List<Socket> wave) throws IOException {
        for (int i = 0; i < wave.size(); i++) {
            try (Socket leaving = wave.get(i)) {
                if (i % 2 == 0) {
                    leaving.getOutputStream().write(REQUEST);
                }
                if (i % 4 < 2) {
                    leaving.setSoLinger(true, 0); // A reset instead of an end.
                }
            }
        }
    }
}
