package dev.gyre.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/// The memory limit of this process's control group: the lowest of the group and its ancestors.
///
/// Two files locate it. `/proc/self/cgroup` names the group, as in `0::/app` (version 2) or
/// `4:memory:/app` (version 1); `/proc/self/mountinfo` names the directory where that hierarchy, or
/// the part of it a container may see, is mounted:
///
/// ```
///   32 31 0:29 /app /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,memory
///              root mount point                  type           options
/// ```
final class CgroupMemory {
    /// Version 1 encodes "no limit" as the largest number of whole pages that fits a long.
    private static final long NO_LIMIT = Long.MAX_VALUE - 65_535;

    private final Path root;

    /// @param root `/`, or in tests a directory with a `proc` and a `sys` in it
    CgroupMemory(Path root) {
        this.root = root;
    }

    /// Returns the limit in bytes; empty if there is no limit, or it is unknown.
    OptionalLong limitBytes() {
        try {
            List<String> groups = Files.readAllLines(root.resolve("proc/self/cgroup"));
            OptionalLong lowest = OptionalLong.empty();
            for (String mount : Files.readAllLines(root.resolve("proc/self/mountinfo"))) {
                lowest = lower(lowest, limitOf(mount, groups));
            }
            return lowest;
        } catch (IOException e) {
            return OptionalLong.empty(); // Not Linux, or a sandbox without /proc.
        }
    }

    private OptionalLong limitOf(String mount, List<String> groups) {
        String[] halves = mount.split(" - ", 2);
        if (halves.length < 2) {
            return OptionalLong.empty();
        }
        String[] place = halves[0].split(" ", -1);
        String[] kind = halves[1].split(" ", -1);
        if (place.length < 5 || kind.length < 3) {
            return OptionalLong.empty();
        }
        boolean version2 = kind[0].equals("cgroup2");
        if (!version2 && !(kind[0].equals("cgroup") && containsToken(kind[2], "memory"))) {
            return OptionalLong.empty();
        }
        String file = version2 ? "memory.max" : "memory.limit_in_bytes";
        Path top = root.resolve(place[4].substring(1));
        for (String group : groups) {
            String[] parts = group.split(":", 3);
            if (parts.length == 3
                    && (version2 ? parts[0].equals("0") : containsToken(parts[1], "memory"))) {
                return lowestUpTo(top, below(parts[2], place[3]), file);
            }
        }
        return OptionalLong.empty();
    }

    /// Returns the group's path below the mounted root. A container that sees a foreign name mounts
    /// only its own group, so the top is correct then.
    private static String below(String group, String mountedRoot) {
        String prefix = mountedRoot.equals("/") ? "" : mountedRoot;
        return group.startsWith(prefix + "/") ? group.substring(prefix.length() + 1) : "";
    }

    private static OptionalLong lowestUpTo(Path top, String group, String file) {
        OptionalLong lowest = OptionalLong.empty();
        Path directory = top.resolve(group).normalize();
        while (directory != null && directory.startsWith(top)) {
            lowest = lower(lowest, number(directory.resolve(file)));
            directory = directory.getParent();
        }
        return lowest;
    }

    private static OptionalLong number(Path file) {
        try {
            long bytes = Long.parseLong(Files.readString(file).strip());
            return bytes < NO_LIMIT ? OptionalLong.of(bytes) : OptionalLong.empty();
        } catch (IOException | NumberFormatException e) {
            return OptionalLong.empty(); // "max", or the root group, which has no such file.
        }
    }

    private static OptionalLong lower(OptionalLong one, OptionalLong other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.isEmpty() ? other : one;
        }
        return one.getAsLong() <= other.getAsLong() ? one : other;
    }

    private static boolean containsToken(String commaSeparated, String name) {
        return List.of(commaSeparated.split(",", -1)).contains(name);
    }
}
