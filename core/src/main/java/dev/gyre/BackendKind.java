package dev.gyre;

import java.util.Arrays;
import java.util.stream.Collectors;

/// The kernel interfaces that a loop can wait on. They behave alike; they differ in cost, and in where
/// they are to be had.
public enum BackendKind {
    /// Linux epoll, to be had on every Linux that Gyre runs on.
    EPOLL("epoll"),

    /// Linux io_uring, from 5.13 on. Containers often forbid it.
    IO_URING("io_uring");

    private final String id;

    BackendKind(String id) {
        this.id = id;
    }

    /// The name that users know it by: `epoll`, `io_uring`.
    public String id() {
        return id;
    }

    /// The one that has this [#id()].
    ///
    /// @throws IllegalArgumentException if there is none; the message lists them all
    public static BackendKind of(String id) {
        return Arrays.stream(values())
                .filter(kind -> kind.id.equals(id))
                .findFirst()
                .orElseThrow(() -> unknown(id));
    }

    private static IllegalArgumentException unknown(String id) {
        return new IllegalArgumentException(
                "no backend is called \""
                        + id
                        + "\": there are "
                        + Arrays.stream(values())
                                .map(BackendKind::id)
                                .collect(Collectors.joining(", ")));
    }

    @Override
    public String toString() {
        return id;
    }
}
