package dev.gyre.os;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// How many directories this process watches, as the kernel counts them.
public final class KernelWatches {
    private KernelWatches() {}

    public static long count() {
        long count = 0;
        try (DirectoryStream<Path> infos = Files.newDirectoryStream(Path.of("/proc/self/fdinfo"))) {
            for (Path info : infos) {
                try {
                    count +=
                            Files.readAllLines(info).stream()
                                    .filter(line -> line.startsWith("inotify wd:"))
                                    .count();
                } catch (NoSuchFileException e) {
                    continue; // The descriptor that listed them.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return count;
    }
}
