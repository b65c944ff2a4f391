package dev.gyre.http.internal.files;

import dev.gyre.Promise;
import dev.gyre.io.Descriptor;
import dev.gyre.io.Stream;

import java.util.Objects;

/// A file on its way, which stays open until it is through.
///
/// It counts what was sent, so that an answer cannot end before all of it was.
///
/// Loop thread only.
final class Sending {
    private final FileCache cache;
    private final FileExchange exchange;
    private final CachedFile file;
    private final FileForm form;
    private final Stream stream;

    // Loop thread only.
    private long sentBytes;

    /// @param form behind a descriptor
    Sending(FileCache cache, FileExchange exchange, CachedFile file, FileForm form, Stream stream) {
        this.cache = cache;
        this.exchange = exchange;
        this.file = file;
        this.form = form;
        this.stream = stream;
    }

    void write(byte[] lines) {
        boolean _ = stream.write(lines);
        sentBytes += lines.length;
    }

    /// All of it is sent.
    void complete() {
        exchange.complete(sentBytes);
    }

    /// Sends a part, and goes on when all of it is sent. Without that the connection is cut: a file that has become
    /// shorter has no other content to offer for the length that was said.
    void send(ByteRanges.Part part, Runnable goOn) {
        Descriptor descriptor = Objects.requireNonNull(form.file(), "the form is in memory");
        file.retain();
        Promise<Long> sent;
        try {
            sent = stream.sendFile(descriptor, part.offset(), part.bytes());
        } catch (RuntimeException e) {
            cache.letGo(file);
            throw e;
        }
        Promise<?> _ =
                sent.then(
                        bytes -> {
                            sentBytes += bytes;
                            through(bytes == part.bytes(), goOn);
                            return true;
                        },
                        _ -> {
                            through(false, goOn);
                            return false;
                        });
    }

    private void through(boolean all, Runnable goOn) {
        cache.letGo(file);
        if (exchange.isOver()) {
            return;
        }
        if (all) {
            goOn.run();
        } else {
            exchange.cut();
        }
    }
}
