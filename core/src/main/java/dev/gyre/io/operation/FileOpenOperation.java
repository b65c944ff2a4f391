package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopFileOpenOperation;
import dev.gyre.io.Descriptor;

/// Opens a file.
public sealed interface FileOpenOperation extends Operation permits LoopFileOpenOperation {
    /// Returns the opened file. Child processes do not inherit it. The caller must close it. An
    /// operation closes a file that the callback does not fetch.
    ///
    /// @throws IllegalStateException if the file was not opened, or was returned before
    Descriptor opened();
}
