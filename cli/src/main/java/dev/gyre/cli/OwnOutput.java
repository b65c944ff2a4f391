package dev.gyre.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;

/// The files that standard output and standard error are redirected to, if they are. To tell of changes
/// of those would change them, for ever.
final class OwnOutput {
    /// Device and inode.
    private final Set<Object> keys = new HashSet<>();

    private OwnOutput() {}

    /// That of this process.
    static OwnOutput find() {
        return of(Path.of("/proc/self/fd/1"), Path.of("/proc/self/fd/2"));
    }

    /// @param streams links to what is written to
    static OwnOutput of(Path... streams) {
        OwnOutput found = new OwnOutput();
        for (Path stream : streams) {
            try {
                var attributes = Files.readAttributes(stream, BasicFileAttributes.class);
                Object key = attributes.fileKey();
                if (attributes.isRegularFile() && key != null) {
                    found.keys.add(key);
                }
            } catch (IOException e) {
                // Closed, or no /proc to ask.
            }
        }
        return found;
    }

    /// Whether it is one of them. Costs nothing if there is none.
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
            return false; // Gone meanwhile.
        }
    }
}
