package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A pseudo terminal: this object is the side of the user, [#fd()] that of the program.
public final class PseudoTerminal implements AutoCloseable {
    private static final int O_RDWR = 2;
    private static final int TIOCSWINSZ = 0x5414;

    /// More than `struct termios`.
    private static final int SETTINGS_BYTES = 256;

    private static final CFunction OPEN = Linkage.intFunction("posix_openpt");
    private static final CFunction GRANT = Linkage.intFunction("grantpt");
    private static final CFunction UNLOCK = Linkage.intFunction("unlockpt");
    private static final CFunction NAME = Linkage.intFunction("ptsname_r");
    private static final CFunction IOCTL = Linkage.variadicInt("ioctl", 2);

    private final PollCalls kernel = new LinuxPollCalls();
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment memory = Memory.allocate(SETTINGS_BYTES);
    private final int user;
    private final int program;
    private final String name;
    private boolean hungUp;

    public PseudoTerminal() {
        int flags = O_RDWR | Linux.O_NOCTTY | Linux.O_CLOEXEC;
        user = require((int) OPEN.call(captured, flags));
        require((int) GRANT.call(captured, user));
        require((int) UNLOCK.call(captured, user));
        require((int) NAME.call(captured, user, memory.address(), 64));
        name = memory.getString(0);
        program = require(new LinuxFileCalls().open(name, flags));
    }

    /// Returns the descriptor of the program's side.
    public int fd() {
        return program;
    }

    /// Returns the descriptor of the user's side.
    public int userFd() {
        return user;
    }

    /// Returns the path of the program's side.
    public String name() {
        return name;
    }

    public void type(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
        require((int) kernel.write(user, memory.address(), bytes.length));
    }

    public void resize(int columns, int rows) {
        memory.set(JAVA_LONG, 0, (long) columns << 16 | rows);
        require((int) IOCTL.call(captured, user, TIOCSWINSZ, memory.address()));
    }

    /// All settings, for comparing.
    public String settings() {
        memory.fill((byte) 0);
        require(new LinuxFileCalls().tcgetattr(program, memory.address()));
        return Arrays.toString(memory.asSlice(0, 60).toArray(JAVA_BYTE));
    }

    /// Closes the user's side.
    public void hangUp() {
        hungUp = true;
        require(kernel.close(user));
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
