package dev.gyre.io;

import dev.gyre.internal.io.FileOpenOperation;

/// Opens a file.
public sealed interface FileOpen extends Operation permits FileOpenOperation {
    /// The file, which no child process inherits. It is the caller's to close.
    ///
    /// @throws IllegalStateException if it was not opened, or was taken already
    Descriptor opened();
}
