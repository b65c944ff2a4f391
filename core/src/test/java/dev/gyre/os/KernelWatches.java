package dev.gyre.os;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Counts the directories that this process watches, as the kernel reports them.
public final class KernelWatches {
    private KernelWatches() {}

    public static long count() {
        long count = 0;
        try (DirectoryStream<Path> infos = Files.newDirectoryStream(Path.of("/proc/self/fdinfo"))) {
            for (Path info : infos) {
                count += watchesIn(info);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return count;
    }

    private static long watchesIn(Path info) throws IOException {
        try {
            return Files.readAllLines(info).stream()
                    .filter(line -> line.startsWith("inotify wd:"))
                    .count();
        } catch (NoSuchFileException e) {
            return 0; // The descriptor was closed since.
        }
    }
}
