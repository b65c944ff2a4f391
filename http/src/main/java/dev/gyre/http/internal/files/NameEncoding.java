package dev.gyre.http.internal.files;

import java.nio.file.InvalidPathException;
import java.util.concurrent.atomic.AtomicBoolean;

/// The encoding of file names, which a JVM takes from the environment when it starts. In the locales `C` and `POSIX`
/// that is ASCII, and all other files are out of its reach.
///
/// **Threads.** Any.
final class NameEncoding {
    private static final AtomicBoolean TOLD = new AtomicBoolean();

    private NameEncoding() {}

    /// A name could not be made a path: tells how that is helped, once, if it can be.
    static void refused(InvalidPathException why) {
        String input = why.getInput();
        if (input.chars().anyMatch(c -> c > '~') && TOLD.compareAndSet(false, true)) {
            System.getLogger("dev.gyre.http")
                    .log(
                            System.Logger.Level.WARNING,
                            "files with names that are not ASCII cannot be served: this JVM was"
                                    + " started with file names in {0}. Set LC_ALL=C.UTF-8, or"
                                    + " another locale in UTF-8, in its environment",
                            System.getProperty("sun.jnu.encoding"));
        }
    }
}
