package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/// Inflates a message as its pieces arrive: RFC 7692 without context takeover. What comes of a piece is handed on in
/// parts, so that a small one that would become huge is stopped at the limit and not after it.
final class Inflation {
    /// What the sender left out.
    private static final byte[] TAIL = {0, 0, (byte) 0xff, (byte) 0xff};

    private final Workbench bench;
    private final Inflater inflater;

    /// Takes what was inflated.
    @FunctionalInterface
    interface Sink {
        /// Takes the next bytes.
        ///
        /// @return what is wrong with them; null for nothing
        @Nullable Violation take(byte[] bytes, int length);
    }

    Inflation(Workbench bench) {
        this.bench = bench;
        inflater = bench.takeInflater();
    }

    /// Inflates a piece.
    @Nullable Violation accept(byte[] packed, int length, Sink sink) {
        inflater.setInput(packed, 0, length);
        try {
            while (true) {
                int made = inflater.inflate(bench.second);
                if (made > 0) {
                    Violation wrong = sink.take(bench.second, made);
                    if (wrong != null) {
                        return wrong;
                    }
                } else if (inflater.finished() && inflater.getRemaining() > 0) {
                    beginAnew(packed, length);
                } else {
                    return inflater.needsDictionary() ? Violation.NOT_DEFLATE : null;
                }
            }
        } catch (DataFormatException e) {
            return Violation.NOT_DEFLATE;
        }
    }

    /// A block may say that it is the last, and others follow all the same: section 7.2.3.4.
    private void beginAnew(byte[] packed, int length) {
        int rest = inflater.getRemaining();
        inflater.reset();
        inflater.setInput(packed, length - rest, rest);
    }

    /// The message is whole.
    @Nullable Violation end(Sink sink) {
        if (inflater.finished()) {
            inflater.reset();
        }
        return accept(TAIL, TAIL.length, sink);
    }

    /// Nothing more is inflated with this.
    void release() {
        bench.giveBack(inflater);
    }
}
