package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real one, called through libc.
public final class LinuxInotify implements Inotify {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment pathRoom = Memory.allocate(Linux.PATH_MAX);

    private static final class Calls {
        static final MethodHandle INIT1 = link("inotify_init1", JAVA_INT, JAVA_INT);
        static final MethodHandle ADD_WATCH =
                link("inotify_add_watch", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle RM_WATCH = link("inotify_rm_watch", JAVA_INT, JAVA_INT, JAVA_INT);
    }

    @Override
    public int init1(int flags) {
        try {
            return Linkage.result(captured, (int) Calls.INIT1.invokeExact(captured, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int addWatch(int fd, byte[] path, int mask) {
        if (path.length >= Linux.PATH_MAX) {
            return -Errno.ENAMETOOLONG;
        }
        MemorySegment.copy(path, 0, pathRoom, JAVA_BYTE, 0, path.length);
        pathRoom.set(JAVA_BYTE, path.length, (byte) 0);
        try {
            return Linkage.result(
                    captured,
                    (int) Calls.ADD_WATCH.invokeExact(captured, fd, pathRoom.address(), mask));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int rmWatch(int fd, int watch) {
        try {
            return Linkage.result(captured, (int) Calls.RM_WATCH.invokeExact(captured, fd, watch));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }
}
