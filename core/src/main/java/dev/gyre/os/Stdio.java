package dev.gyre.os;

/// The target of a standard stream of a child process.
public enum Stdio {
    /// The stream of this process: the same terminal, file or pipe.
    INHERIT,
    /// A pipe. Its other end is [ChildProcess#input()], [ChildProcess#output()] or
    /// [ChildProcess#error()].
    PIPE,
    /// `/dev/null`: reads are empty, and writes are discarded.
    NULL
}
