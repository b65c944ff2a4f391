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
final class Crowd {
    private static final byte[] REQUEST =
            "GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII);

    private static final int WAVES = 8;
    private static final int CONNECTIONS = 64;
    private static final int REQUESTS_EACH = 64;

    static final int ALL_CONNECTIONS = WAVES * CONNECTIONS;

    /// What is asked and answered altogether.
    static final int REQUESTS = ALL_CONNECTIONS * REQUESTS_EACH;

    /// A server that does not answer is not to keep a build waiting.
    private static final int PATIENCE_MILLIS = 10_000;

    private Crowd() {}

    /// @param done called on the loop's thread when all was asked, whatever came of it
    static void gather(EventLoop loop, InetSocketAddress server, Runnable done) {
        Thread _ =
                Thread.ofPlatform()
                        .name("crowd")
                        .daemon()
                        .start(
                                () -> {
                                    try {
                                        come(server);
                                    } catch (IOException e) {
                                        throw new UncheckedIOException(e); // for the build's log
                                    } finally {
                                        loop.submit(done);
                                    }
                                });
    }

    private static void come(InetSocketAddress server) throws IOException {
        for (int i = 0; i < WAVES; i++) {
            List<Socket> wave = new ArrayList<>();
            for (int j = 0; j < CONNECTIONS; j++) {
                Socket arriving = new Socket(server.getAddress(), server.getPort());
                arriving.setSoTimeout(PATIENCE_MILLIS);
                wave.add(arriving);
            }
            for (int j = 0; j < REQUESTS_EACH; j++) {
                ask(wave);
            }
            leave(wave);
        }
    }

    /// Some in the middle of a request, and some without a word.
    private static void leave(List<Socket> wave) throws IOException {
        for (int i = 0; i < wave.size(); i++) {
            Socket leaving = wave.get(i);
            if (i % 2 == 0) {
                leaving.getOutputStream().write(REQUEST);
            }
            if (i % 4 < 2) {
                leaving.setSoLinger(true, 0); // A reset instead of an end.
            }
            leaving.close();
        }
    }

    private static void ask(List<Socket> wave) throws IOException {
        for (Socket each : wave) {
            each.getOutputStream().write(REQUEST);
        }
        byte[] answer = new byte[512];
        for (Socket each : wave) {
            InputStream in = each.getInputStream();
            int length = 0;
            do {
                int more = in.read(answer, length, answer.length - length);
                if (more < 0) {
                    throw new IOException("the server ended a connection");
                }
                length += more;
            } while (!isWhole(answer, length));
        }
    }

    private static boolean isWhole(byte[] answer, int length) {
        return length > 0 && answer[length - 1] == '!';
    }
}
