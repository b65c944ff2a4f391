package dev.gyre.http.internal.files;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// A file that is known: what it is called, and its content in memory or behind a descriptor, which stays open as
/// long as somebody uses it.
final class CachedFile implements Found {
    /// A file that was changed so lately may change again and look the same.
    private static final long RESTLESS_NANOS = 2_000_000_000L;

    final Path path;
    final FileIdentity identity;
    final long modified;
    final FileForm plain;
    final @Nullable FileForm gzip;

    /// Whether there may be a compressed form of it.
    final boolean varies;

    /// What was at the place of a compressed file beside it; null if nothing was.
    final @Nullable FileIdentity beside;

    /// Whether gzip has not been tried, as nobody wanted it yet.
    final boolean mightShrink;

    private final boolean settled;

    // Loop thread only.
    long checkedNanos;
    long usedNanos;
    private int users;

    /// @param nowNanos since 1970
    CachedFile(
            Path path,
            FileIdentity identity,
            FileForm plain,
            @Nullable FileForm gzip,
            boolean varies,
            @Nullable FileIdentity beside,
            boolean mightShrink,
            long nowNanos) {
        this.path = path;
        this.identity = identity;
        this.plain = plain;
        this.gzip = gzip;
        this.varies = varies;
        this.beside = beside;
        this.mightShrink = mightShrink;
        modified = Math.min(identity.modifiedSeconds(), Math.floorDiv(nowNanos, 1_000_000_000L));
        settled = nowNanos - identity.modifiedNanos() > RESTLESS_NANOS;
    }

    /// Whether it can be told from its state that it is still the same.
    boolean isSettled() {
        return settled;
    }

    int memoryBytes() {
        return plain.memoryBytes() + (gzip == null ? 0 : gzip.memoryBytes());
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
