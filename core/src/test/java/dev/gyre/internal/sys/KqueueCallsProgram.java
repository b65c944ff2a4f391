package dev.gyre.internal.sys;

import dev.gyre.internal.sys.PollCalls.FdPair;

import java.lang.foreign.MemorySegment;

/// Makes each call of kqueue once and prints the result: see [BsdKqueueCallsTest].
final class KqueueCallsProgram {
    private KqueueCallsProgram() {}

    public static void main(String[] arguments) {
        KqueueFlavour flavour = KqueueFlavour.choose();
        KqueueCalls calls = new BsdKqueueCalls(flavour);
        say("kqueue " + calls.kqueue());
        int size = flavour.sizeofKevent();
        MemorySegment memory = Memory.allocate(6L * size);
        long changes = memory.address();
        long events = changes + 2L * size;
        long timespec = events + 2L * size;
        Kevent.put(changes, 11, -1, 0x61, 0, 0, 0xfeedbeef00000001L);
        Kevent.put(changes + size, 12, -10, 4, Kevent.NOTE_TRIGGER, 9, 2);
        Memory.putLong(timespec, 3);
        Memory.putLong(timespec + Kevent.OFFSETOF_TIMESPEC_NANOS, 7);
        say("events " + calls.kevent(5, changes, 2, events, 2, timespec));
        for (int i = 0; i < 2; i++) {
            long event = events + (long) i * size;
            say(
                    "event %d %d %x %x %d %x"
                            .formatted(
                                    Kevent.ident(event),
                                    Kevent.filter(event),
                                    Kevent.flags(event),
                                    Kevent.fflags(event),
                                    Kevent.data(event),
                                    Kevent.udata(event)));
        }
        say("refused " + -calls.kevent(5, 0, 0, 0, 0, 0));
        say(pipe(calls, flavour, memory.address()));
    }

    /// These calls go to this system's libc regardless of the flavour; only the type of a pipe
    /// needs this system's struct.
    private static String pipe(KqueueCalls calls, KqueueFlavour flavour, long address) {
        FdPair pair = new FdPair();
        int made = calls.pipe(pair.address());
        int type =
                flavour == KqueueFlavour.LIBKQUEUE || !System.getProperty("os.name").equals("Linux")
                        ? calls.fileType(pair.first())
                        : 0x1000;
        boolean carries =
                made == 0
                        && calls.write(pair.second(), address, 1) == 1
                        && calls.read(pair.first(), address, 8) == 1;
        boolean closes =
                calls.fcntl(pair.first(), Kevent.F_SETFD, Kevent.FD_CLOEXEC) == 0
                        && calls.close(pair.first()) == 0
                        && calls.close(pair.second()) == 0
                        && calls.close(pair.second()) == -Errno.EBADF
                        && calls.fileType(pair.first()) == -Errno.EBADF;
        return "pipe %x %b %b".formatted(type, carries, closes);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
