package dev.gyre.http.internal.files;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// A file that is known: what it is called, and its content in memory or behind a descriptor, which stays open as
/// long as somebody uses it.
final class CachedFile implements Found {
    final Path path;
    final FileIdentity identity;
    final long modified;
    final FileForm plain;
    final @Nullable FileForm gzip;

    /// Whether there may be a compressed form of it.
    final boolean varies;

    /// What was at the place of a compressed file beside it; null if nothing was.
    final @Nullable FileIdentity beside;

    /// Whether it was not tried yet to make a compressed form, and there is none.
    final boolean untried;

    private final boolean settled;

    // Loop thread only.
    long checkedNanos;
    long usedNanos;
    private int users;

    /// @param modified in seconds since 1970
    /// @param settled whether it can be told from its state that it is still the same
    CachedFile(
            Path path,
            FileIdentity identity,
            FileForm plain,
            @Nullable FileForm gzip,
            boolean varies,
            @Nullable FileIdentity beside,
            boolean untried,
            long modified,
            boolean settled) {
        this.path = path;
        this.identity = identity;
        this.plain = plain;
        this.gzip = gzip;
        this.varies = varies;
        this.beside = beside;
        this.untried = untried;
        this.modified = modified;
        this.settled = settled;
    }

    /// Whether it can be told from its state that it is still the same.
    boolean isSettled() {
        return settled;
    }

    /// Whether what would be sent is what is known of it. Also on the loop, as it is quick.
    boolean isUntouched() {
        return plain.isUntouched() && (gzip == null || gzip.isUntouched());
    }

    int memoryBytes() {
        return plain.memoryBytes() + (gzip == null ? 0 : gzip.memoryBytes());
    }

    boolean holdsDescriptor() {
        return plain.file() != null || (gzip != null && gzip.file() != null);
    }

    /// Somebody uses it: it stays open until [#release()].
    void retain() {
        users++;
    }

    /// Somebody uses it no longer.
    ///
    /// @return whether that was the last one, and it is closed
    boolean release() {
        assert users > 0 : "released more often than retained: " + path;
        if (--users == 0) {
            close();
            return true;
        }
        return false;
    }

    void close() {
        plain.close();
        if (gzip != null) {
            gzip.close();
        }
    }
}
