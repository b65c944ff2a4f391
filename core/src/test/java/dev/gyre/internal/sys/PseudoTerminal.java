package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A terminal without a screen: this is the side of the person who types and looks, [#fd()] that
/// of the program.
public final class PseudoTerminal implements AutoCloseable {
    private static final int O_RDWR = 2;
    private static final int TIOCSWINSZ = 0x5414;

    /// More than `struct termios`.
    private static final int SETTINGS_BYTES = 256;

    private static final MethodHandle OPEN = Linkage.link("posix_openpt", JAVA_INT, JAVA_INT);
    private static final MethodHandle GRANT = Linkage.link("grantpt", JAVA_INT, JAVA_INT);
    private static final MethodHandle UNLOCK = Linkage.link("unlockpt", JAVA_INT, JAVA_INT);
    private static final MethodHandle NAME =
            Linkage.link("ptsname_r", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle IOCTL =
            Linkage.linkVariadic("ioctl", JAVA_INT, 2, JAVA_INT, JAVA_LONG, JAVA_LONG);

    private final Kernel kernel = new LinuxKernel();
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment memory = Memory.allocate(SETTINGS_BYTES);
    private final int person;
    private final int program;
    private final String name;
    private boolean hungUp;

    public PseudoTerminal() {
        int flags = O_RDWR | Linux.O_NOCTTY | Linux.O_CLOEXEC;
        try {
            person = require((int) OPEN.invokeExact(captured, flags));
            require((int) GRANT.invokeExact(captured, person));
            require((int) UNLOCK.invokeExact(captured, person));
            require((int) NAME.invokeExact(captured, person, memory.address(), 64L));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        name = memory.getString(0);
        program = require(new LinuxInputs().open(name, flags));
    }

    /// The program's side.
    public int fd() {
        return program;
    }

    /// The person's side, which no program is usually given.
    public int personsFd() {
        return person;
    }

    /// The path under which programs open it.
    public String name() {
        return name;
    }

    public void type(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
        require((int) kernel.write(person, memory.address(), bytes.length));
    }

    public void resize(int columns, int rows) {
        memory.set(JAVA_LONG, 0, (long) columns << 16 | rows);
        try {
            require((int) IOCTL.invokeExact(captured, person, (long) TIOCSWINSZ, memory.address()));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// All settings, for comparing.
    public String settings() {
        memory.fill((byte) 0);
        require(new LinuxTerminals().tcgetattr(program, memory.address()));
        return Arrays.toString(memory.asSlice(0, 60).toArray(JAVA_BYTE));
    }

    /// The person is gone.
    public void hangUp() {
        hungUp = true;
        require(kernel.close(person));
    }

    private static int require(int result) {
        if (result < 0) {
            throw new AssertionError("refused: " + Errno.name(-result));
        }
        return result;
    }

    @Override
    public void close() {
        require(kernel.close(program));
        if (!hungUp) {
            hangUp();
        }
    }
}
