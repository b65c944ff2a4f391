package dev.gyre.internal.sys;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// The open descriptors of this process, from the kernel. The count may fall at any time, when the
/// garbage collector finds descriptors that other tests dropped: a leak shows as a rise.
///
/// Files that the JVM opens for itself do not count. It opens a jar at the first use of a class and
/// keeps it, so the first test of a process would seem to leak.
public final class OpenDescriptors {
    private OpenDescriptors() {}

    public static long count() {
        return names().size();
    }

    /// Returns the targets of the descriptors: paths, or kinds and numbers such as `socket:[4711]`.
    public static List<String> names() {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.map(OpenDescriptors::name)
                    .filter(name -> !isOfTheVirtualMachine(name))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOfTheVirtualMachine(String name) {
        return name.isEmpty()
                || name.endsWith(".jar")
                || name.endsWith("/lib/modules")
                || name.equals("/dev/random")
                || name.equals("/dev/urandom");
    }

    /// Returns empty if the descriptor was closed since it was listed.
    private static String name(Path entry) {
        try {
            return Files.readSymbolicLink(entry).toString();
        } catch (NoSuchFileException e) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
