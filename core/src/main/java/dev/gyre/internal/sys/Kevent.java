package dev.gyre.internal.sys;

/// Constants of kqueue and the fields of `struct kevent`, under their kernel names, if they are the
/// same on every system. [KqueueFlavour] has those that differ.
///
/// `EV_DISPATCH` is omitted on purpose: `EV_ONESHOT` leaves no filter behind that would conflict
/// with the next change. So is `EV_OOBAND`, the urgent-data flag of macOS: `EVFILT_EXCEPT` reports
/// urgent data only if requested.
public final class Kevent {
    public static final int EVFILT_READ = -1;
    public static final int EVFILT_WRITE = -2;

    public static final int EV_ADD = 0x0001;
    public static final int EV_DELETE = 0x0002;
    public static final int EV_ENABLE = 0x0004;
    public static final int EV_ONESHOT = 0x0010;
    public static final int EV_CLEAR = 0x0020;
    public static final int EV_RECEIPT = 0x0040;
    public static final int EV_ERROR = 0x4000;
    public static final int EV_EOF = 0x8000;

    /// Of `EVFILT_EXCEPT`: urgent data.
    public static final int NOTE_OOB = 0x02;

    public static final int NOTE_TRIGGER = 0x01000000;

    public static final int S_IFMT = 0xF000;
    public static final int S_IFDIR = 0x4000;
    public static final int S_IFBLK = 0x6000;
    public static final int S_IFREG = 0x8000;
    public static final int S_IFSOCK = 0xC000;

    public static final int F_SETFD = 2;
    public static final int F_SETFL = 4;
    public static final int FD_CLOEXEC = 1;

    public static final int SIZEOF_TIMESPEC = 16;
    public static final int OFFSETOF_TIMESPEC_NANOS = 8;

    private static final int OFFSETOF_IDENT = 0;
    private static final int OFFSETOF_FILTER = 8;
    private static final int OFFSETOF_FLAGS = 10;
    private static final int OFFSETOF_FFLAGS = 12;
    private static final int OFFSETOF_DATA = 16;
    private static final int OFFSETOF_UDATA = 24;

    private Kevent() {}

    public static void put(
            long address, long ident, int filter, int flags, int fflags, long data, long udata) {
        Memory.putLong(address + OFFSETOF_IDENT, ident);
        Memory.putShort(address + OFFSETOF_FILTER, filter);
        Memory.putShort(address + OFFSETOF_FLAGS, flags);
        Memory.putInt(address + OFFSETOF_FFLAGS, fflags);
        Memory.putLong(address + OFFSETOF_DATA, data);
        Memory.putLong(address + OFFSETOF_UDATA, udata);
    }

    public static long ident(long address) {
        return Memory.getLong(address + OFFSETOF_IDENT);
    }

    public static int filter(long address) {
        return Memory.getShort(address + OFFSETOF_FILTER);
    }

    public static int flags(long address) {
        return Memory.getShort(address + OFFSETOF_FLAGS) & 0xFFFF;
    }

    public static int fflags(long address) {
        return Memory.getInt(address + OFFSETOF_FFLAGS);
    }

    public static long data(long address) {
        return Memory.getLong(address + OFFSETOF_DATA);
    }

    public static long udata(long address) {
        return Memory.getLong(address + OFFSETOF_UDATA);
    }
}
