package dev.gyre.http.internal.files;

import dev.gyre.SystemCallException;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// Opens files and directories, and nothing that is elsewhere.
///
/// **No way out.** Symbolic links are found out afterwards and by the kernel: the file is opened, and then asked for
/// its place (`/proc/self/fd`). If that is not to the letter where it was looked for, some part of the path was a
/// link, and what was opened is closed unread. There is no moment in between in which somebody could put a link
/// there.
///
/// A file that another one took the place of in that moment has no place any more, which the kernel says so:
/// `/a/path (deleted)`. Then the other one is opened.
///
/// **Threads.** Any: it holds nothing, and blocks.
final class FileOpener {
    /// Who replaces a file as often as this while it is opened does nothing else.
    private static final int MOST_TRIES = 16;

    private static final int EACCES = 13;
    private static final int EPERM = 1;

    private final boolean symlinks;
    private final Call open;

    /// The call that opens: for reading.
    @FunctionalInterface
    interface Call {
        Descriptor open(Path path);
    }

    FileOpener(boolean symlinks, Call open) {
        this.symlinks = symlinks;
        this.open = open;
    }

    /// @param identity as it was when it had been opened
    record Opened(Path path, Descriptor file, FileIdentity identity) {
        /// The same file, wherever its name leads to by now.
        Path self() {
            return selfOf(file);
        }

        /// Whether it still is as it was when it had been opened. Quick: the kernel has that in memory.
        boolean isUntouched() {
            try {
                return identity.equals(FileIdentity.of(self()));
            } catch (IOException e) {
                return false;
            }
        }

        private static Path selfOf(Descriptor file) {
            return Path.of("/proc/self/fd/" + file.fd());
        }
    }

    /// There is something, and it cannot be had.
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        final int status;

        Refused(int status, @Nullable Exception cause) {
            super(cause);
            this.status = status;
        }
    }

    /// Opens a file or a directory.
    ///
    /// @return null if there is none
    @Nullable Opened open(Path path) throws Refused {
        try {
            for (int tries = 0; tries < MOST_TRIES; tries++) {
                // Before it is opened: with a device that alone may do something.
                if (!isServed(looked(path))) {
                    return null;
                }
                Descriptor file = open.open(path);
                boolean taken = false;
                try {
                    Path place = symlinks ? path : Files.readSymbolicLink(Opened.selfOf(file));
                    FileIdentity identity = FileIdentity.of(Opened.selfOf(file));
                    taken = place.equals(path) && isServed(identity);
                    if (taken) {
                        return new Opened(path, file, identity);
                    }
                    if (!place.equals(replaced(path))) {
                        return null;
                    }
                } finally {
                    if (!taken) {
                        file.close();
                    }
                }
            }
            throw new Refused(503, null);
        } catch (AccessDeniedException e) {
            throw new Refused(403, e);
        } catch (IOException e) {
            return null;
        } catch (SystemCallException e) {
            if (e.kind() == SystemCallException.Kind.RESOURCE) {
                throw new Refused(503, e);
            }
            if (e.errno() == EACCES || e.errno() == EPERM) {
                throw new Refused(403, e);
            }
            return null;
        }
    }

    private FileIdentity looked(Path path) throws IOException {
        return symlinks ? FileIdentity.of(path) : FileIdentity.of(path, LinkOption.NOFOLLOW_LINKS);
    }

    /// What the kernel says of a file at this place that another one has taken the place of.
    private static Path replaced(Path path) {
        return path.resolveSibling(path.getFileName() + " (deleted)");
    }

    private static boolean isServed(FileIdentity identity) {
        return identity.isRegular() || identity.isDirectory();
    }
}
