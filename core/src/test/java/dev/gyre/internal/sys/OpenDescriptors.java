package dev.gyre.internal.sys;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// How many descriptors this process has open, as the kernel counts them. It may fall at any time, when the
/// collector has found some that other tests dropped: a leak shows as a rise.
public final class OpenDescriptors {
    private OpenDescriptors() {}

    public static long count() {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
