package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.os.OpenPipe;
import dev.gyre.io.Descriptor;

/// A pipe: bytes written to one end are read from the other. Both ends are non-blocking, and no
/// child process inherits them.
public sealed interface Pipe extends AutoCloseable permits OpenPipe {
    /// Opens a pipe.
    ///
    /// @throws SystemCallException if the kernel refuses
    static Pipe open() {
        return OpenPipe.open();
    }

    /// Returns the end to read from. It reaches its end once the writer is closed and all bytes
    /// have been read.
    Descriptor reader();

    /// Returns the end to write to. Writing fails with EPIPE once the reader is closed.
    Descriptor writer();

    /// Closes both ends.
    @Override
    void close();
}
