package dev.gyre.os;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.Objects;

/// A change of a file or directory that a [FileWatch] watches.
///
/// ```java
/// change -> IO.println(change.kind() + " " + change.path())
/// ```
///
/// Paths begin with the path that the watch was given: a watch on `config` reports
/// `config/app.toml`. They hold the bytes of a name exactly, even if those are not text in the
/// file-name encoding (`sun.jnu.encoding`). Such a path opens the file; only its `toString()` shows
/// replacement characters.
///
/// @param kind the kind of change
/// @param path the changed path; after a move the new one
/// @param from the path before the move; `null` for every kind but [Kind#MOVED]
public record FileChange(Kind kind, Path path, @Nullable Path from) {

    /// The kinds of changes.
    public enum Kind {
        /// An entry appeared: it was created, or moved in from an unwatched directory. It replaces
        /// an existing entry of that name.
        CREATED,
        /// The contents or length of a file changed. Several writes may be merged.
        MODIFIED,
        /// A file that was open for writing was closed: its writer is done. Wait for this kind
        /// before reading a file that others write.
        WRITTEN,
        /// An entry disappeared: it was deleted, or moved to an unwatched directory. Entries below
        /// a directory that was moved away are not reported one by one.
        DELETED,
        /// An entry got another path, and so did everything below it. It replaces an existing entry
        /// of that path.
        MOVED,
        /// Changes at or below the path were lost: rescan it. Later changes are reported again,
        /// unless the directory could not be watched at all, which the log explains.
        OVERFLOW
    }

    /// Validates the components.
    ///
    /// @throws IllegalArgumentException if a move has no `from`, or another kind has one
    public FileChange {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(path, "path");
        if ((kind == Kind.MOVED) != (from != null)) {
            throw new IllegalArgumentException("from is for MOVED only: " + kind + " from " + from);
        }
    }

    /// Creates a change that is not a move.
    public FileChange(Kind kind, Path path) {
        this(kind, path, null);
    }

    /// Returns `CREATED config/app.toml` or `MOVED config/app.new -> config/app.toml`.
    @Override
    public String toString() {
        return from == null ? kind + " " + path : kind + " " + from + " -> " + path;
    }
}
