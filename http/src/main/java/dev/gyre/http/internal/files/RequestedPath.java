package dev.gyre.http.internal.files;

import dev.gyre.http.internal.message.Percent;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// The names between the slashes of a path, none of which leads anywhere but down.
///
/// The slashes are found before anything is decoded, and every name is decoded once: one that has a slash then, or
/// is `..`, was meant to deceive.
///
/// @param names from the directory down; empty for the directory itself
/// @param isDirectory whether a slash is at the end
record RequestedPath(List<String> names, boolean isDirectory) {
    private static final String WELL_KNOWN = ".well-known";

    /// Takes a path apart.
    ///
    /// @param sent as it was sent, below the directory, without a slash at its beginning
    /// @param hidden whether names may begin with a dot
    /// @param atRoot whether the directory is what the server has at `/`, where `.well-known` is no hidden name (RFC 8615)
    /// @return null if there is nothing by that name, whatever is in the directory
    static @Nullable RequestedPath of(String sent, boolean hidden, boolean atRoot) {
        if (sent.isEmpty()) {
            return new RequestedPath(List.of(), true);
        }
        String[] parts = sent.split("/", -1);
        boolean isDirectory = parts[parts.length - 1].isEmpty();
        List<String> names = new ArrayList<>(parts.length);
        for (int i = 0; i < parts.length - (isDirectory ? 1 : 0); i++) {
            String name = Percent.decode(parts[i], false);
            if (name == null || !isName(name) || !(hidden || isShown(name, atRoot && i == 0))) {
                return null;
            }
            names.add(name);
        }
        return new RequestedPath(List.copyOf(names), isDirectory);
    }

    /// The path as it would be sent if nothing had to be encoded.
    String decoded() {
        return String.join("/", names) + (isDirectory && !names.isEmpty() ? "/" : "");
    }

    /// Whether a name is none of those that are hidden.
    ///
    /// @param atRoot whether it is one of the first in a path
    static boolean isShown(String name, boolean atRoot) {
        return !name.startsWith(".") || (atRoot && name.equals(WELL_KNOWN));
    }

    private static boolean isName(String name) {
        if (name.isEmpty() || name.equals(".") || name.equals("..")) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            // Some take a backslash for a slash, and nobody has one in a name.
            if (c == '/' || c == '\\' || c == 0) {
                return false;
            }
        }
        return true;
    }
}
