package dev.gyre.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// Statistics of a process, from `/proc`.
///
/// @param residentBytes resident memory, shared pages included
/// @param cpuNanos CPU time of all threads so far, with a resolution of 10 ms
/// @param descriptors the number of open descriptors
record ProcessStats(long residentBytes, long cpuNanos, int descriptors) {
    /// The kernel's USER_HZ, a fixed part of its interface.
    private static final long TICK_NANOS = 10_000_000;

    private static final String RESIDENT = "VmRSS:";

    /// Index in `stat`, counted after the name, which is in parentheses and may contain any
    /// character.
    private static final int USER_TIME = 11;

    private static final int SYSTEM_TIME = 12;

    /// @throws UncheckedIOException if the process does not exist or is not visible to this user
    static ProcessStats of(long pid) {
        return in(Path.of("/proc", Long.toString(pid)));
    }

    static ProcessStats in(Path directory) {
        try {
            return new ProcessStats(
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
                .orElseThrow(() -> new IOException("no " + RESIDENT + " in /proc status"));
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
