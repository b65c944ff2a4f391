package dev.gyre.os;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.Objects;

/// Something happened to a file or directory that a [FileWatch] watches.
///
/// ```java
/// change -> IO.println(change.kind() + " " + change.path())
/// ```
///
/// Paths begin with the path that the watch was given: what is watched as `config` changes as
/// `config/app.toml`. They hold a name's bytes exactly, also where those are not text in the
/// file-name encoding (`sun.jnu.encoding`): such a path opens the file, and only its `toString()`
/// shows replacement characters.
///
/// @param kind what happened
/// @param path what it happened to; after a move the new path
/// @param from the path before the move; null for every kind but [Kind#MOVED]
public record FileChange(Kind kind, Path path, @Nullable Path from) {

    /// What can happen.
    public enum Kind {
        /// An entry appeared: it was created, or moved in from where nobody watches. If another
        /// one had the name it is gone.
        CREATED,
        /// A file's contents or length changed. Many writes may be told as one.
        MODIFIED,
        /// A file that had been opened for writing was closed: its writer is done. This is the one
        /// to wait for before reading a file that others write.
        WRITTEN,
        /// An entry disappeared: it was deleted, or moved to where nobody watches. Of a directory
        /// that was moved away everything below it is gone too, without being told one by one.
        DELETED,
        /// An entry got another path, and everything below it too. If another one had that path it
        /// is gone.
        MOVED,
        /// Changes at the path or below it were not seen, or cannot be: look for yourself.
        /// Everything that changes after this was told is seen again, unless the directory could
        /// not be watched at all, which the log explains.
        OVERFLOW
    }

    /// Checks that the parts fit together.
    ///
    /// @throws IllegalArgumentException if a move has no `from`, or something else has one
    public FileChange {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(path, "path");
        if ((kind == Kind.MOVED) != (from != null)) {
            throw new IllegalArgumentException("from is for MOVED only: " + kind + " from " + from);
        }
    }

    /// A change that is not a move.
    public FileChange(Kind kind, Path path) {
        this(kind, path, null);
    }

    /// As in `CREATED config/app.toml` and `MOVED config/app.new -> config/app.toml`.
    @Override
    public String toString() {
        return from == null ? kind + " " + path : kind + " " + from + " -> " + path;
    }
}
