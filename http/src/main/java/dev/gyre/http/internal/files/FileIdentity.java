package dev.gyre.http.internal.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// Which file it is, and in what state: two that are equal have the same content, but for changes within one tick
/// of the system's clock.
///
/// @param modifiedNanos when its content changed, since 1970
/// @param changedNanos when that or anything else about it did
record FileIdentity(
        long device, long inode, int mode, long size, long modifiedNanos, long changedNanos) {
    private static final int TYPE = 0xF000;
    private static final int REGULAR = 0x8000;
    private static final int DIRECTORY = 0x4000;

    static FileIdentity of(Path path, LinkOption... options) throws IOException {
        Map<String, Object> known =
                Files.readAttributes(
                        path, "unix:dev,ino,mode,size,lastModifiedTime,ctime", options);
        return new FileIdentity(
                number(known, "dev"),
                number(known, "ino"),
                (int) number(known, "mode"),
                number(known, "size"),
                nanos(known, "lastModifiedTime"),
                nanos(known, "ctime"));
    }

    private static long number(Map<String, Object> known, String name) {
        return ((Number) Objects.requireNonNull(known.get(name))).longValue();
    }

    private static long nanos(Map<String, Object> known, String name) {
        return ((FileTime) Objects.requireNonNull(known.get(name))).to(TimeUnit.NANOSECONDS);
    }

    boolean isRegular() {
        return (mode & TYPE) == REGULAR;
    }

    boolean isDirectory() {
        return (mode & TYPE) == DIRECTORY;
    }

    long modifiedSeconds() {
        return Math.floorDiv(modifiedNanos, 1_000_000_000L);
    }

    /// The tag of its content, without quotes. With the time of any change: that of the content can be set to whatever
    /// it was before.
    String tag() {
        return Long.toHexString(size)
                + "-"
                + Long.toHexString(modifiedNanos)
                + "-"
                + Long.toHexString(changedNanos)
                + "-"
                + Long.toHexString(inode);
    }
}
