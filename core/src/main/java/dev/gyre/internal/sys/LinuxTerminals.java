package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.linkVariadic;
import static dev.gyre.internal.sys.Linkage.linkVoid;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real terminals, through libc: its `struct termios` is not the kernel's.
public final class LinuxTerminals implements Terminals {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Settings {
        static final MethodHandle GET = link("tcgetattr", JAVA_INT, JAVA_INT, JAVA_LONG);
        static final MethodHandle SET = link("tcsetattr", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
        static final MethodHandle MAKE_RAW = linkVoid("cfmakeraw", JAVA_LONG);
    }

    private static final class Ioctl {
        static final MethodHandle CALL =
                linkVariadic("ioctl", JAVA_INT, 2, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    @Override
    public int tcgetattr(int fd, long termiosAddress) {
        try {
            return result((int) Settings.GET.invokeExact(captured, fd, termiosAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int tcsetattr(int fd, int when, long termiosAddress) {
        try {
            return result((int) Settings.SET.invokeExact(captured, fd, when, termiosAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void cfmakeraw(long termiosAddress) {
        try {
            Settings.MAKE_RAW.invokeExact(captured, termiosAddress);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int windowSize(int fd, long winsizeAddress) {
        try {
            return result(
                    (int)
                            Ioctl.CALL.invokeExact(
                                    captured, fd, (long) Linux.TIOCGWINSZ, winsizeAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private int result(int returned) {
        return Linkage.result(captured, returned);
    }
}
