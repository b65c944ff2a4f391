package dev.gyre.http.internal.files;

import dev.gyre.http.internal.message.PercentEncoding;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// The names of a requested path. No name leads out of the directory.
///
/// The path is split before it is decoded, and each name is decoded once. A decoded name that
/// contains a slash or equals `..` is an attack.
///
/// @param names from the directory down; empty for the directory itself
/// @param isDirectory whether the path ends with a slash
record RequestedPath(List<String> names, boolean isDirectory) {
    private static final String WELL_KNOWN = ".well-known";

    /// Parses a path.
    ///
    /// @param raw as received, relative to the directory, without a leading slash
    /// @param hidden whether names may start with a dot
    /// @param atRoot whether the directory is served at `/`, where `.well-known` is not hidden
    ///     (RFC 8615)
    /// @return `null` if no file can have this path
    static @Nullable RequestedPath of(String raw, boolean hidden, boolean atRoot) {
        if (raw.isEmpty()) {
            return new RequestedPath(List.of(), true);
        }
        String[] segments = raw.split("/", -1);
        boolean isDirectory = segments[segments.length - 1].isEmpty();
        List<String> names = new ArrayList<>(segments.length);
        for (int i = 0; i < segments.length - (isDirectory ? 1 : 0); i++) {
            String name = PercentEncoding.decode(segments[i], false);
            if (name == null || !isName(name) || !(hidden || isVisible(name, atRoot && i == 0))) {
                return null;
            }
            names.add(name);
        }
        return new RequestedPath(List.copyOf(names), isDirectory);
    }

    /// Returns the path without percent-encoding.
    String decoded() {
        return String.join("/", names) + (isDirectory && !names.isEmpty() ? "/" : "");
    }

    /// @param first whether the name is the first of a path below `/`
    static boolean isVisible(String name, boolean first) {
        return !name.startsWith(".") || (first && name.equals(WELL_KNOWN));
    }

    /// Rejects backslashes too: some programs treat them as slashes.
    private static boolean isName(String name) {
        return !name.isEmpty()
                && !name.equals(".")
                && !name.equals("..")
                && name.chars().noneMatch(c -> c == '/' || c == '\\' || c == 0);
    }
}
