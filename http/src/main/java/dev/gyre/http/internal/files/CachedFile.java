package dev.gyre.http.internal.files;

import dev.gyre.http.internal.files.FileOpener.Opened;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// A file that was found: its identity and its representations. Reference-counted: its descriptors
/// stay open until the last user releases it.
final class CachedFile implements FileLoader.Result {
    final Path path;
    final FileIdentity identity;
    final Representation plain;
    final @Nullable Representation gzip;

    /// Whether the file may have a compressed representation.
    final boolean varies;

    /// The identity of the `.gz` file next to it; `null` if absent.
    final @Nullable FileIdentity sidecar;

    /// Whether a compressed representation is possible but was not yet made.
    final boolean canCompress;

    /// In seconds since 1970.
    final long modified;

    /// Whether an unchanged identity proves unchanged bytes.
    final boolean isSettled;

    // Loop thread only.
    long checkedNanos;
    long usedNanos;
    private int users;

    CachedFile(
            Path path,
            FileIdentity identity,
            Representation plain,
            @Nullable Representation gzip,
            boolean varies,
            @Nullable FileIdentity sidecar,
            boolean canCompress,
            long modified,
            boolean isSettled) {
        this.path = path;
        this.identity = identity;
        this.plain = plain;
        this.gzip = gzip;
        this.varies = varies;
        this.sidecar = sidecar;
        this.canCompress = canCompress;
        this.modified = modified;
        this.isSettled = isSettled;
    }

    /// Returns whether the open files are unmodified. Fast enough for the loop thread.
    boolean isUnmodified() {
        return plain.isUnmodified() && (gzip == null || gzip.isUnmodified());
    }

    int memoryBytes() {
        return plain.memoryBytes() + (gzip == null ? 0 : gzip.memoryBytes());
    }

    boolean holdsDescriptor() {
        return plain.file() != null || (gzip != null && gzip.file() != null);
    }

    /// Keeps the file open until [#release()].
    void retain() {
        users++;
    }

    /// Returns whether this was the last user. Then the file is closed.
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

    /// A body as it is sent: the file's own bytes, or their gzip encoding. Small bodies are held in
    /// memory, others behind a descriptor.
    ///
    /// @param etag quoted, with the prefix `W/` if weak; empty if absent
    /// @param body the whole body, never modified; `null` if it is read from [#file()]
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Representation(
            FileHead head,
            String etag,
            long length,
            byte @Nullable [] body,
            @Nullable Opened source) {
        /// Returns the open file; `null` if the body is in memory.
        @Nullable Descriptor file() {
            return source == null ? null : source.file();
        }

        /// Returns whether the file is unmodified since its head was created.
        boolean isUnmodified() {
            return source == null || source.isUnmodified();
        }

        int memoryBytes() {
            return body == null ? 0 : body.length;
        }

        void close() {
            if (source != null) {
                source.file().close();
            }
        }
    }
}
