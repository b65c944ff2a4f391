package dev.gyre.os;

/// What a standard stream of a child process is connected to.
public enum Stdio {
    /// What this process has: the same terminal, file or pipe.
    INHERIT,
    /// A pipe, whose other end is had from [ChildProcess#input()], [ChildProcess#output()] or
    /// [ChildProcess#error()].
    PIPE,
    /// `/dev/null`: nothing to read, and what is written is gone.
    NULL
}
