package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.find;
import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.linkVariadic;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// The real processes, through libc. The `posix_spawn` family returns error numbers instead of
/// setting errno, which makes `-errno` a matter of a sign.
public final class LinuxProcesses implements Processes {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment spawned = Memory.allocate(Integer.BYTES);

    private static final ThreadLocal<LinuxProcesses> OF_THREAD =
            ThreadLocal.withInitial(LinuxProcesses::new);

    /// The instance of the calling thread.
    public static LinuxProcesses ofThread() {
        return OF_THREAD.get();
    }

    private static final class Actions {
        static final MethodHandle INIT = link("posix_spawn_file_actions_init", JAVA_INT, JAVA_LONG);
        static final MethodHandle DESTROY =
                link("posix_spawn_file_actions_destroy", JAVA_INT, JAVA_LONG);
        static final MethodHandle ADD_OPEN =
                link(
                        "posix_spawn_file_actions_addopen",
                        JAVA_INT,
                        JAVA_LONG,
                        JAVA_INT,
                        JAVA_LONG,
                        JAVA_INT,
                        JAVA_INT);
        static final MethodHandle ADD_DUP2 =
                link("posix_spawn_file_actions_adddup2", JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
        static final MethodHandle ADD_CLOSE =
                link("posix_spawn_file_actions_addclose", JAVA_INT, JAVA_LONG, JAVA_INT);
    }

    /// Not in every libc: glibc has the first since 2.34 and the second since 2.29, musl only the
    /// second.
    private static final class Extensions {
        static final Optional<MethodHandle> CLOSE_FROM_IF_PRESENT =
                find("posix_spawn_file_actions_addclosefrom_np", JAVA_INT, JAVA_LONG, JAVA_INT);
        static final Optional<MethodHandle> CHDIR_IF_PRESENT =
                find("posix_spawn_file_actions_addchdir_np", JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    private static final class Attributes {
        static final MethodHandle INIT = link("posix_spawnattr_init", JAVA_INT, JAVA_LONG);
        static final MethodHandle DESTROY = link("posix_spawnattr_destroy", JAVA_INT, JAVA_LONG);
        static final MethodHandle SET_FLAGS =
                link("posix_spawnattr_setflags", JAVA_INT, JAVA_LONG, JAVA_SHORT);
        static final MethodHandle SET_MASK =
                link("posix_spawnattr_setsigmask", JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle SET_DEFAULT =
                link("posix_spawnattr_setsigdefault", JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle SET_GROUP =
                link("posix_spawnattr_setpgroup", JAVA_INT, JAVA_LONG, JAVA_INT);
    }

    private static final class Spawn {
        static final MethodHandle CALL =
                link(
                        "posix_spawnp",
                        JAVA_INT,
                        JAVA_LONG,
                        JAVA_LONG,
                        JAVA_LONG,
                        JAVA_LONG,
                        JAVA_LONG,
                        JAVA_LONG);
    }

    /// glibc has functions for these since 2.36, musl has none.
    private static final class Pidfd {
        static final MethodHandle OPEN =
                linkVariadic("syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle SEND_SIGNAL =
                linkVariadic(
                        "syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG);
    }

    private static final class Children {
        static final MethodHandle WAITID =
                link("waitid", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle KILL = link("kill", JAVA_INT, JAVA_INT, JAVA_INT);
    }

    @Override
    public int fileActionsInit(long actions) {
        try {
            return -(int) Actions.INIT.invokeExact(captured, actions);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileActionsDestroy(long actions) {
        try {
            return -(int) Actions.DESTROY.invokeExact(captured, actions);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileActionsAddOpen(long actions, int fd, long path, int flags, int mode) {
        try {
            return -(int) Actions.ADD_OPEN.invokeExact(captured, actions, fd, path, flags, mode);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileActionsAddDup2(long actions, int fd, int newFd) {
        try {
            return -(int) Actions.ADD_DUP2.invokeExact(captured, actions, fd, newFd);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileActionsAddClose(long actions, int fd) {
        try {
            return -(int) Actions.ADD_CLOSE.invokeExact(captured, actions, fd);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileActionsAddCloseFrom(long actions, int lowest) {
        if (Extensions.CLOSE_FROM_IF_PRESENT.isEmpty()) {
            return -Errno.ENOSYS;
        }
        try {
            return -(int)
                    Extensions.CLOSE_FROM_IF_PRESENT.get().invokeExact(captured, actions, lowest);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileActionsAddChdir(long actions, long path) {
        if (Extensions.CHDIR_IF_PRESENT.isEmpty()) {
            return -Errno.ENOSYS;
        }
        try {
            return -(int) Extensions.CHDIR_IF_PRESENT.get().invokeExact(captured, actions, path);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int attributesInit(long attributes) {
        try {
            return -(int) Attributes.INIT.invokeExact(captured, attributes);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int attributesDestroy(long attributes) {
        try {
            return -(int) Attributes.DESTROY.invokeExact(captured, attributes);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int attributesSetFlags(long attributes, int flags) {
        try {
            return -(int) Attributes.SET_FLAGS.invokeExact(captured, attributes, (short) flags);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int attributesSetSignalMask(long attributes, long signals) {
        try {
            return -(int) Attributes.SET_MASK.invokeExact(captured, attributes, signals);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int attributesSetSignalDefault(long attributes, long signals) {
        try {
            return -(int) Attributes.SET_DEFAULT.invokeExact(captured, attributes, signals);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int attributesSetGroup(long attributes, int group) {
        try {
            return -(int) Attributes.SET_GROUP.invokeExact(captured, attributes, group);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int spawn(long file, long actions, long attributes, long arguments, long environment) {
        try {
            long pid = spawned.address();
            int error =
                    (int)
                            Spawn.CALL.invokeExact(
                                    captured,
                                    pid,
                                    file,
                                    actions,
                                    attributes,
                                    arguments,
                                    environment);
            return error == 0 ? Memory.getInt(pid) : -error;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int pidfdOpen(int pid, int flags) {
        try {
            return (int)
                    result(
                            (long)
                                    Pidfd.OPEN.invokeExact(
                                            captured,
                                            (long) Linux.SYS_pidfd_open,
                                            (long) pid,
                                            (long) flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int pidfdSendSignal(int pidfd, int signal, int flags) {
        try {
            return (int)
                    result(
                            (long)
                                    Pidfd.SEND_SIGNAL.invokeExact(
                                            captured,
                                            (long) Linux.SYS_pidfd_send_signal,
                                            (long) pidfd,
                                            (long) signal,
                                            0L,
                                            (long) flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int waitid(int idType, int id, long info, int options) {
        try {
            return (int)
                    result((int) Children.WAITID.invokeExact(captured, idType, id, info, options));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int kill(int pid, int signal) {
        try {
            return (int) result((int) Children.KILL.invokeExact(captured, pid, signal));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private long result(long returned) {
        return Linkage.result(captured, returned);
    }
}
