package dev.gyre.internal.io;

import dev.gyre.internal.sys.Linux;

import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;

/// The JDK's options for opening a file, as the kernel has them.
public final class OpenModes {
    /// Readable by all, writable by the owner.
    public static final int NEW_FILE = 0b110_100_100;

    private OpenModes() {}

    public static int flags(OpenOption... options) {
        EnumSet<StandardOpenOption> asked = EnumSet.noneOf(StandardOpenOption.class);
        for (OpenOption option : options) {
            if (!(option instanceof StandardOpenOption known)) {
                throw new UnsupportedOperationException("not a standard option: " + option);
            }
            asked.add(known);
        }
        boolean writes =
                asked.contains(StandardOpenOption.WRITE)
                        || asked.contains(StandardOpenOption.APPEND);
        boolean reads = asked.contains(StandardOpenOption.READ);
        int flags = Linux.O_CLOEXEC;
        flags |= !writes ? Linux.O_RDONLY : reads ? Linux.O_RDWR : Linux.O_WRONLY;
        for (StandardOpenOption option : asked) {
            flags |=
                    switch (option) {
                        case READ, WRITE, SPARSE -> 0;
                        case APPEND -> Linux.O_APPEND;
                        case TRUNCATE_EXISTING -> writes ? Linux.O_TRUNC : 0;
                        case CREATE -> writes ? Linux.O_CREAT : 0;
                        case CREATE_NEW -> writes ? Linux.O_CREAT | Linux.O_EXCL : 0;
                        case SYNC -> Linux.O_SYNC;
                        case DSYNC -> Linux.O_DSYNC;
                        case DELETE_ON_CLOSE ->
                                throw new UnsupportedOperationException(
                                        "a file is not deleted when it is closed: delete it");
                    };
        }
        return flags;
    }
}
