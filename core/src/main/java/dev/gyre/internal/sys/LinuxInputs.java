package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.linkVariadic;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real calls, through libc.
public final class LinuxInputs implements Inputs {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Open {
        static final MethodHandle CALL =
                linkVariadic("open", JAVA_INT, 2, JAVA_LONG, JAVA_INT, JAVA_INT);
    }

    private static final class Statx {
        static final MethodHandle CALL =
                linkVariadic(
                        "syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG, JAVA_LONG);
    }

    private static final class Sockets {
        static final MethodHandle RECV =
                link("recv", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    }

    @Override
    public int open(String path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path);
            return Linkage.result(
                    captured, (int) Open.CALL.invokeExact(captured, name.address(), flags, 0));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int statx(int fd, int mask, long statxAddress) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment noName = arena.allocateFrom("");
            return (int)
                    Linkage.result(
                            captured,
                            (long)
                                    Statx.CALL.invokeExact(
                                            captured,
                                            (long) Linux.SYS_statx,
                                            (long) fd,
                                            noName.address(),
                                            (long) Linux.AT_EMPTY_PATH,
                                            (long) mask,
                                            statxAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long recv(int fd, long address, long count, int flags) {
        try {
            return Linkage.result(
                    captured, (long) Sockets.RECV.invokeExact(captured, fd, address, count, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }
}
