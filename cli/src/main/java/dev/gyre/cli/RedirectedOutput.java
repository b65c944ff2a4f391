package dev.gyre.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;

/// The files that standard output and standard error are redirected to, if any. Reporting a change
/// of such a file would change it again, endlessly.
final class RedirectedOutput {
    /// Device and inode.
    private final Set<Object> keys = new HashSet<>();

    private RedirectedOutput() {}

    /// Returns those of this process.
    static RedirectedOutput find() {
        return of(Path.of("/proc/self/fd/1"), Path.of("/proc/self/fd/2"));
    }

    /// @param streams links to the output files
    static RedirectedOutput of(Path... streams) {
        RedirectedOutput found = new RedirectedOutput();
        for (Path stream : streams) {
            try {
                var attributes = Files.readAttributes(stream, BasicFileAttributes.class);
                Object key = attributes.fileKey();
                if (attributes.isRegularFile() && key != null) {
                    found.keys.add(key);
                }
            } catch (IOException e) {
                // Closed, or /proc is not available.
            }
        }
        return found;
    }

    /// Returns whether the path is such a file. Makes no system call if output is not redirected.
    boolean includes(Path path) {
        if (keys.isEmpty()) {
            return false;
        }
        try {
            Object key =
                    Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                            .fileKey();
            return key != null && keys.contains(key);
        } catch (IOException e) {
            return false; // Deleted meanwhile.
        }
    }
}
