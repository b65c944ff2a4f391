package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.internal.io.OpenDescriptor;

import org.jspecify.annotations.Nullable;

/// A part of a file that waits to be sent.
///
/// Loop thread only.
final class FilePart {
    final OpenDescriptor file;
    private final Deferred<Long> outcome;
    private long offset;
    private long left;
    private long sent;

    FilePart(OpenDescriptor file, long offset, long bytes, Deferred<Long> outcome) {
        this.file = file;
        this.offset = offset;
        this.left = bytes;
        this.outcome = outcome;
    }

    long offset() {
        return offset;
    }

    long left() {
        return left;
    }

    void sent(long bytes) {
        offset += bytes;
        left -= bytes;
        sent += bytes;
    }

    void settle() {
        outcome.resolve(sent);
    }

    void fail(@Nullable Throwable cause) {
        if (cause == null) {
            settle();
        } else {
            outcome.reject(cause);
        }
    }
}
