package dev.gyre.http.internal.files;

import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

/// Content as it is sent: the file's own, or what gzip made of it. In memory if it is small, otherwise behind a descriptor.
///
/// @param etag in quotes
/// @param length in bytes
/// @param content all of it; null if it is read from `file`
/// @param file open; null if all is in memory
record FileForm(
        FileHead head,
        String etag,
        long length,
        byte @Nullable [] content,
        @Nullable Descriptor file) {
    int memoryBytes() {
        return content == null ? 0 : content.length;
    }

    void close() {
        if (file != null) {
            file.close();
        }
    }
}
