package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopFileOpen;
import dev.gyre.io.Descriptor;

/// Opens a file.
public sealed interface FileOpenOperation extends Operation permits LoopFileOpen {
    /// The file, which no child process inherits. It is the caller's to close.
    ///
    /// @throws IllegalStateException if it was not opened, or was taken already
    Descriptor opened();
}
