package dev.gyre.internal.backend;

/// Two connected ends, for tests of a backend: a pipe, or two sockets of which each can read and
/// write. Ends that the test has not closed are closed in the end.
public interface Conduit extends AutoCloseable {
    /// The end that is watched most of the time: of sockets the first.
    int reader();

    int writer();

    /// Sends one byte to the reader.
    void write();

    /// Reads one byte.
    void read();

    void closeReader();

    void closeWriter();

    @Override
    void close();
}
