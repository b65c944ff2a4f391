package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;

/// Asks for the same thing over and over, on several connections at once. The start-up cache also keeps which methods
/// were called often and with what: a server that has it compiles the right ones from the first request on.
///
/// Loop thread only.
final class Repetition {
    private static final String REQUEST = "GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n";

    /// About a second: what is called less often is not compiled by the better of the two compilers.
    private static final int TIMES = 20_000;

    private static final int CONNECTIONS = 16;

    private final Runnable done;

    // Loop thread only.
    private int asked;
    private int open = CONNECTIONS;

    private Repetition(Runnable done) {
        this.done = done;
    }

    /// @param done called when all was asked, whatever came of it
    static void of(EventLoop loop, InetSocketAddress server, Runnable done) {
        Repetition repetition = new Repetition(done);
        for (int i = 0; i < CONNECTIONS; i++) {
            Promise<@Nullable Void> _ =
                    Stream.connect(loop, server)
                            .then(
                                    stream -> {
                                        repetition.converse(stream);
                                        return null;
                                    },
                                    _ -> {
                                        repetition.ended();
                                        return null;
                                    });
        }
    }

    private void converse(Stream stream) {
        Stream _ =
                stream.onData(
                                answer -> {
                                    answer.clear();
                                    ask(stream);
                                })
                        .onClose(_ -> ended());
        ask(stream);
    }

    private void ask(Stream stream) {
        if (asked++ < TIMES) {
            boolean _ = stream.write(REQUEST);
        } else {
            stream.close();
        }
    }

    private void ended() {
        if (--open == 0) {
            done.run();
        }
    }
}
