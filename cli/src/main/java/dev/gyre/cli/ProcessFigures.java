package dev.gyre.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// What the kernel says of a process, in `/proc`.
///
/// @param residentBytes its memory that is in RAM, pages shared with other processes included
/// @param cpuNanos the processor time of all its threads so far, to the hundredth of a second
/// @param descriptors how many it has open
record ProcessFigures(long residentBytes, long cpuNanos, int descriptors) {
    /// The kernel's USER_HZ, which is part of its interface and so the same everywhere.
    private static final long TICK_NANOS = 10_000_000;

    private static final String RESIDENT = "VmRSS:";

    /// In `stat`, counted from behind the name, which is in parentheses and may contain anything.
    private static final int USER_TIME = 11;

    private static final int SYSTEM_TIME = 12;

    /// @throws UncheckedIOException if there is no such process, or not for this user
    static ProcessFigures of(long pid) {
        return in(Path.of("/proc", Long.toString(pid)));
    }

    static ProcessFigures in(Path directory) {
        try {
            return new ProcessFigures(
                    residentBytes(Files.readString(directory.resolve("status"))),
                    cpuNanos(Files.readString(directory.resolve("stat"))),
                    entries(directory.resolve("fd")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long residentBytes(String status) throws IOException {
        return status.lines()
                .filter(line -> line.startsWith(RESIDENT))
                .map(line -> line.substring(RESIDENT.length()).replace("kB", "").strip())
                .map(kibibytes -> Long.parseLong(kibibytes) * 1024)
                .findFirst()
                .orElseThrow(() -> new IOException("no " + RESIDENT + " in its status"));
    }

    private static long cpuNanos(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        long ticks = Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME]);
        return ticks * TICK_NANOS;
    }

    private static int entries(Path directory) throws IOException {
        int count = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path _ : entries) {
                count++;
            }
        }
        return count;
    }
}
