package dev.gyre.internal.sys;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// What this process has open, as the kernel tells it. The count may fall at any time, when the collector has found
/// descriptors that other tests dropped: a leak shows as a rise.
///
/// What the JVM opens for itself does not count. It opens a jar when the first class of it is looked for, and
/// keeps it: whichever test comes first in its process would seem to leak.
public final class OpenDescriptors {
    private OpenDescriptors() {}

    public static long count() {
        return names().size();
    }

    /// What the descriptors stand for: paths, or kinds and numbers such as `socket:[4711]`.
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

    /// Empty if it was closed since it was listed.
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
