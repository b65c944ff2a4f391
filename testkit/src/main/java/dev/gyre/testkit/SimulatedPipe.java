package dev.gyre.testkit;

import dev.gyre.io.Descriptor;

import java.util.Objects;

/// A pipe of a simulated world. Neither end blocks.
///
/// @param reader the end to read from
/// @param writer the end to write to
public record SimulatedPipe(Descriptor reader, Descriptor writer) implements AutoCloseable {
    /// Creates a pipe.
    public SimulatedPipe {
        Objects.requireNonNull(reader, "reader");
        Objects.requireNonNull(writer, "writer");
    }

    /// Closes both ends.
    @Override
    public void close() {
        reader.close();
        writer.close();
    }
}
