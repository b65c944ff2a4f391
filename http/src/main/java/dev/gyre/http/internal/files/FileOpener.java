package dev.gyre.http.internal.files;

import dev.gyre.SystemCallException;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/// Opens regular files and directories below a root.
///
/// **No escape.** The kernel reports the location of the open file (`/proc/self/fd`). If it differs
/// from the requested path, a part of the path was a symbolic link, and the file is closed unread.
/// This check has no race: it runs after the open.
///
/// A file that was replaced during the open has no location. The kernel reports
/// `/a/path (deleted)`. Then its replacement is opened.
///
/// **Threads.** Any; stateless. Blocks.
final class FileOpener {
    private static final int MAX_TRIES = 16;
    private static final int EACCES = 13;
    private static final int EPERM = 1;

    private final boolean symlinks;
    private final Function<Path, Descriptor> open;

    FileOpener(boolean symlinks, Function<Path, Descriptor> open) {
        this.symlinks = symlinks;
        this.open = open;
    }

    /// @param identity its state right after the open
    record Opened(Path path, Descriptor file, FileIdentity identity) {
        /// Returns a path that leads to this file even if it was moved or replaced.
        Path self() {
            return selfOf(file);
        }

        /// Returns whether the file is unmodified since it was opened. Fast: the kernel has the
        /// state in memory.
        boolean isUnmodified() {
            try {
                return identity.equals(FileIdentity.of(self(), true));
            } catch (IOException e) {
                return false;
            }
        }

        private static Path selfOf(Descriptor file) {
            return Path.of("/proc/self/fd/" + file.fd());
        }
    }

    /// The file exists but cannot be opened.
    static final class OpenFailedException extends Exception {
        private static final long serialVersionUID = 1;

        final int status;

        OpenFailedException(int status, @Nullable Exception cause) {
            super(cause);
            this.status = status;
        }
    }

    /// Returns `null` if there is no such file or directory.
    @Nullable Opened open(Path path) throws OpenFailedException {
        try {
            for (int tries = 0; tries < MAX_TRIES; tries++) {
                // Checked before the open, which has side effects on some devices.
                if (!isServed(FileIdentity.of(path, symlinks))) {
                    return null;
                }
                Descriptor file = open.apply(path);
                boolean accepted = false;
                try {
                    Path self = Opened.selfOf(file);
                    Path location = symlinks ? path : Files.readSymbolicLink(self);
                    FileIdentity identity = FileIdentity.of(self, true);
                    accepted = location.equals(path) && isServed(identity);
                    if (accepted) {
                        return new Opened(path, file, identity);
                    }
                    if (!location.equals(path.resolveSibling(path.getFileName() + " (deleted)"))) {
                        return null;
                    }
                } finally {
                    if (!accepted) {
                        file.close();
                    }
                }
            }
            throw new OpenFailedException(503, null);
        } catch (AccessDeniedException e) {
            throw new OpenFailedException(403, e);
        } catch (IOException e) {
            return null;
        } catch (SystemCallException e) {
            if (e.kind() == SystemCallException.Kind.RESOURCE) {
                throw new OpenFailedException(503, e);
            }
            if (e.errno() == EACCES || e.errno() == EPERM) {
                throw new OpenFailedException(403, e);
            }
            return null;
        }
    }

    private static boolean isServed(FileIdentity identity) {
        return identity.isRegular() || identity.isDirectory();
    }
}
