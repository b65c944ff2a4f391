package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.findIntFunction;
import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.variadicLong;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// The real calls of processes and signals, through libc. The `posix_spawn` family and
/// `pthread_sigmask` return the error number instead of setting errno, so their sign is inverted.
public final class LinuxProcessCalls implements ProcessCalls, SignalCalls {
    // One thread at a time: the owner of this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment spawned = Memory.allocate(Integer.BYTES);

    private static final ThreadLocal<LinuxProcessCalls> OF_THREAD =
            ThreadLocal.withInitial(LinuxProcessCalls::new);

    public static LinuxProcessCalls ofThread() {
        return OF_THREAD.get();
    }

    private static final class Spawn {
        static final CFunction CALL = intFunction("posix_spawnp");
        static final CFunction ACTIONS_INIT = intFunction("posix_spawn_file_actions_init");
        static final CFunction ACTIONS_DESTROY = intFunction("posix_spawn_file_actions_destroy");
        static final CFunction ADD_OPEN = intFunction("posix_spawn_file_actions_addopen");
        static final CFunction ADD_DUP2 = intFunction("posix_spawn_file_actions_adddup2");
        static final CFunction ADD_CLOSE = intFunction("posix_spawn_file_actions_addclose");
        static final CFunction ATTRIBUTES_INIT = intFunction("posix_spawnattr_init");
        static final CFunction ATTRIBUTES_DESTROY = intFunction("posix_spawnattr_destroy");
        static final CFunction SET_FLAGS = intFunction("posix_spawnattr_setflags");
        static final CFunction SET_MASK = intFunction("posix_spawnattr_setsigmask");
        static final CFunction SET_DEFAULT = intFunction("posix_spawnattr_setsigdefault");
        static final CFunction SET_GROUP = intFunction("posix_spawnattr_setpgroup");
    }

    /// Not in every libc: glibc has the first since 2.34 and the second since 2.29; musl has only
    /// the second.
    private static final class Extensions {
        static final Optional<CFunction> CLOSE_FROM_IF_PRESENT =
                findIntFunction("posix_spawn_file_actions_addclosefrom_np");
        static final Optional<CFunction> CHDIR_IF_PRESENT =
                findIntFunction("posix_spawn_file_actions_addchdir_np");
    }

    /// glibc has functions for these since 2.36, musl has none.
    private static final class Pidfd {
        static final CFunction SYSCALL = variadicLong("syscall", 1);
    }

    private static final class Children {
        static final CFunction WAITID = intFunction("waitid");
        static final CFunction KILL = intFunction("kill");
    }

    private static final class Signals {
        static final CFunction SIGNALFD = intFunction("signalfd");
        static final CFunction SIGMASK = intFunction("pthread_sigmask");
    }

    @Override
    public int fileActionsInit(long actions) {
        return -(int) Spawn.ACTIONS_INIT.call(captured, actions);
    }

    @Override
    public int fileActionsDestroy(long actions) {
        return -(int) Spawn.ACTIONS_DESTROY.call(captured, actions);
    }

    @Override
    public int fileActionsAddOpen(long actions, int fd, long path, int flags, int mode) {
        return -(int) Spawn.ADD_OPEN.call(captured, actions, fd, path, flags, mode);
    }

    @Override
    public int fileActionsAddDup2(long actions, int fd, int newFd) {
        return -(int) Spawn.ADD_DUP2.call(captured, actions, fd, newFd);
    }

    @Override
    public int fileActionsAddClose(long actions, int fd) {
        return -(int) Spawn.ADD_CLOSE.call(captured, actions, fd);
    }

    @Override
    public int fileActionsAddCloseFrom(long actions, int lowest) {
        if (Extensions.CLOSE_FROM_IF_PRESENT.isEmpty()) {
            return -Errno.ENOSYS;
        }
        return -(int) Extensions.CLOSE_FROM_IF_PRESENT.get().call(captured, actions, lowest);
    }

    @Override
    public int fileActionsAddChdir(long actions, long path) {
        if (Extensions.CHDIR_IF_PRESENT.isEmpty()) {
            return -Errno.ENOSYS;
        }
        return -(int) Extensions.CHDIR_IF_PRESENT.get().call(captured, actions, path);
    }

    @Override
    public int attributesInit(long attributes) {
        return -(int) Spawn.ATTRIBUTES_INIT.call(captured, attributes);
    }

    @Override
    public int attributesDestroy(long attributes) {
        return -(int) Spawn.ATTRIBUTES_DESTROY.call(captured, attributes);
    }

    @Override
    public int attributesSetFlags(long attributes, int flags) {
        return -(int) Spawn.SET_FLAGS.call(captured, attributes, (short) flags);
    }

    @Override
    public int attributesSetSignalMask(long attributes, long signals) {
        return -(int) Spawn.SET_MASK.call(captured, attributes, signals);
    }

    @Override
    public int attributesSetSignalDefault(long attributes, long signals) {
        return -(int) Spawn.SET_DEFAULT.call(captured, attributes, signals);
    }

    @Override
    public int attributesSetGroup(long attributes, int group) {
        return -(int) Spawn.SET_GROUP.call(captured, attributes, group);
    }

    @Override
    public int spawn(long file, long actions, long attributes, long arguments, long environment) {
        long pid = spawned.address();
        int error =
                (int)
                        Spawn.CALL.call(
                                captured, pid, file, actions, attributes, arguments, environment);
        return error == 0 ? Memory.getInt(pid) : -error;
    }

    @Override
    public int pidfdOpen(int pid, int flags) {
        return (int) Pidfd.SYSCALL.call(captured, Linux.SYS_pidfd_open, pid, flags);
    }

    @Override
    public int pidfdSendSignal(int pidfd, int signal, int flags) {
        return (int)
                Pidfd.SYSCALL.call(captured, Linux.SYS_pidfd_send_signal, pidfd, signal, 0, flags);
    }

    @Override
    public int waitid(int idType, int id, long info, int options) {
        return (int) Children.WAITID.call(captured, idType, id, info, options);
    }

    @Override
    public int kill(int pid, int signal) {
        return (int) Children.KILL.call(captured, pid, signal);
    }

    @Override
    public int signalfd(int fd, long setAddress, int flags) {
        return (int) Signals.SIGNALFD.call(captured, fd, setAddress, flags);
    }

    @Override
    public int pthreadSigmask(int how, long setAddress, long oldSetAddress) {
        return -(int) Signals.SIGMASK.call(captured, how, setAddress, oldSetAddress);
    }
}
