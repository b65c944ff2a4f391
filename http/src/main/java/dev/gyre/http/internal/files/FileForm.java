package dev.gyre.http.internal.files;

import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

/// Content as it is sent: the file's own, or what gzip made of it. In memory if it is small, otherwise behind a
/// descriptor.
final class FileForm {
    private final FileHead head;
    private final String etag;
    private final long length;
    private final byte @Nullable [] content;
    private final @Nullable Descriptor file;

    /// @param etag in quotes
    /// @param length in bytes
    /// @param content all of it; null if it is read from `file`
    /// @param file open; null if all is in memory
    FileForm(
            FileHead head,
            String etag,
            long length,
            byte @Nullable [] content,
            @Nullable Descriptor file) {
        this.head = head;
        this.etag = etag;
        this.length = length;
        this.content = content;
        this.file = file;
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
        return file;
    }

    int memoryBytes() {
        return content == null ? 0 : content.length;
    }

    void close() {
        if (file != null) {
            file.close();
        }
    }
}
