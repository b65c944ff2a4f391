package dev.gyre.http.internal.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// A file and its state. Equal identities mean equal bytes, except for changes within one tick of
/// the file system's clock.
///
/// @param modifiedNanos the last change of the bytes, since 1970
/// @param changedNanos the last change of bytes or metadata, since 1970
record FileIdentity(
        long device, long inode, int mode, long size, long modifiedNanos, long changedNanos) {
    private static final int TYPE = 0xF000;
    private static final int REGULAR = 0x8000;
    private static final int DIRECTORY = 0x4000;

    static FileIdentity of(Path path, boolean followLinks) throws IOException {
        LinkOption[] options =
                followLinks ? new LinkOption[0] : new LinkOption[] {LinkOption.NOFOLLOW_LINKS};
        Map<String, Object> stat =
                Files.readAttributes(
                        path, "unix:dev,ino,mode,size,lastModifiedTime,ctime", options);
        return new FileIdentity(
                number(stat, "dev"),
                number(stat, "ino"),
                (int) number(stat, "mode"),
                number(stat, "size"),
                nanos(stat, "lastModifiedTime"),
                nanos(stat, "ctime"));
    }

    private static long number(Map<String, Object> stat, String name) {
        return ((Number) Objects.requireNonNull(stat.get(name))).longValue();
    }

    private static long nanos(Map<String, Object> stat, String name) {
        return ((FileTime) Objects.requireNonNull(stat.get(name))).to(TimeUnit.NANOSECONDS);
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

    /// Returns the entity tag without quotes. It contains the time of any change, because programs
    /// can set the modification time back.
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
