package dev.gyre.http.internal.files;

import dev.gyre.http.internal.files.FileOpener.Opened;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

/// Content as it is sent: the file's own, or what gzip made of it. In memory if it is small, otherwise behind a
/// descriptor.
final class FileForm {
    private final FileHead head;
    private final String etag;
    private final long length;
    private final byte @Nullable [] content;
    private final @Nullable Opened source;

    /// @param etag in quotes, with `W/` before them if it is weak; empty for none
    /// @param length in bytes
    /// @param content all of it; null if it is read from `source`
    /// @param source open; null if all is in memory
    FileForm(
            FileHead head,
            String etag,
            long length,
            byte @Nullable [] content,
            @Nullable Opened source) {
        this.head = head;
        this.etag = etag;
        this.length = length;
        this.content = content;
        this.source = source;
    }

    FileHead head() {
        return head;
    }

    String etag() {
        return etag;
    }

    long length() {
        return length;
    }

    /// All of it, not to be changed; null if it is read from [#file()].
    byte @Nullable [] content() {
        return content;
    }

    /// Null if all is in memory.
    @Nullable Descriptor file() {
        return source == null ? null : source.file();
    }

    /// Whether what would be sent is what the head says: nobody has written into the file since.
    boolean isUntouched() {
        return source == null || source.isUntouched();
    }

    int memoryBytes() {
        return content == null ? 0 : content.length;
    }

    void close() {
        if (source != null) {
            source.file().close();
        }
    }
}
