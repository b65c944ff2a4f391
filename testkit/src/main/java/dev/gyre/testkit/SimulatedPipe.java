package dev.gyre.testkit;

import dev.gyre.io.Descriptor;

import java.util.Objects;

/// A pipe of a simulated world: what is written to one end can be read from the other. Neither end blocks.
///
/// @param reader the end to read from
/// @param writer the end to write to
public record SimulatedPipe(Descriptor reader, Descriptor writer) implements AutoCloseable {
    /// Checks the ends.
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
