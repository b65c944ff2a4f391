package dev.gyre;

import java.util.Arrays;
import java.util.stream.Collectors;

/// The kernel interface that a loop waits on. All kinds behave alike. They differ in cost and
/// availability.
public enum BackendKind {
    /// Linux epoll. Available on every supported Linux.
    EPOLL("epoll"),

    /// Linux io_uring. Requires Linux 5.13. Containers often forbid it.
    IO_URING("io_uring"),

    /// The kqueue of macOS and FreeBSD. There it supports only timers, tasks and promises; sockets
    /// and files are not implemented. On Linux, libkqueue provides it for experiments: see the
    /// system properties `gyre.kqueue.library` and `gyre.kqueue.flavour`.
    KQUEUE("kqueue");

    private final String id;

    BackendKind(String id) {
        this.id = id;
    }

    /// Returns the name for users: `epoll`, `io_uring`, `kqueue`.
    public String id() {
        return id;
    }

    /// Returns the kind with this [#id()].
    ///
    /// @throws IllegalArgumentException if the id is unknown; the message lists all ids
    public static BackendKind of(String id) {
        return Arrays.stream(values())
                .filter(kind -> kind.id.equals(id))
                .findFirst()
                .orElseThrow(() -> unknown(id));
    }

    private static IllegalArgumentException unknown(String id) {
        return new IllegalArgumentException(
                "unknown backend \""
                        + id
                        + "\": use one of "
                        + Arrays.stream(values())
                                .map(BackendKind::id)
                                .collect(Collectors.joining(", ")));
    }

    @Override
    public String toString() {
        return id;
    }
}
