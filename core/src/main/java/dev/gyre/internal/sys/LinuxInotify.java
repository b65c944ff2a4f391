package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// The real one, called through libc.
public final class LinuxInotify implements Inotify {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment pathRoom = Memory.allocate(Linux.PATH_MAX);

    private static final class Calls {
        static final CFunction INIT1 = intFunction("inotify_init1");
        static final CFunction ADD_WATCH = intFunction("inotify_add_watch");
        static final CFunction RM_WATCH = intFunction("inotify_rm_watch");
    }

    @Override
    public int init1(int flags) {
        return (int) Calls.INIT1.call(captured, flags);
    }

    @Override
    public int addWatch(int fd, byte[] path, int mask) {
        if (path.length >= Linux.PATH_MAX) {
            return -Errno.ENAMETOOLONG;
        }
        MemorySegment.copy(path, 0, pathRoom, JAVA_BYTE, 0, path.length);
        pathRoom.set(JAVA_BYTE, path.length, (byte) 0);
        return (int) Calls.ADD_WATCH.call(captured, fd, pathRoom.address(), mask);
    }

    @Override
    public int rmWatch(int fd, int watch) {
        return (int) Calls.RM_WATCH.call(captured, fd, watch);
    }
}
