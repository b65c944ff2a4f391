package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.variadicInt;

import java.lang.foreign.MemorySegment;

/// The real terminals, through libc: its `struct termios` is not the kernel's.
public final class LinuxTerminals implements Terminals {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Settings {
        static final CFunction GET = intFunction("tcgetattr");
        static final CFunction SET = intFunction("tcsetattr");
        static final CFunction MAKE_RAW = intFunction("cfmakeraw");
    }

    private static final class Ioctl {
        static final CFunction CALL = variadicInt("ioctl", 2);
    }

    @Override
    public int tcgetattr(int fd, long termiosAddress) {
        return (int) Settings.GET.call(captured, fd, termiosAddress);
    }

    @Override
    public int tcsetattr(int fd, int when, long termiosAddress) {
        return (int) Settings.SET.call(captured, fd, when, termiosAddress);
    }

    @Override
    public void cfmakeraw(long termiosAddress) {
        long _ = Settings.MAKE_RAW.call(captured, termiosAddress);
    }

    @Override
    public int windowSize(int fd, long winsizeAddress) {
        return (int) Ioctl.CALL.call(captured, fd, Linux.TIOCGWINSZ, winsizeAddress);
    }
}
