package dev.gyre.internal.sys;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/// The real process calls with injected faults, by the plan of a [FaultyKernel]. It records the
/// children and the initialised `posix_spawn` structures, to find leaks.
public final class FaultyProcessCalls implements ProcessCalls {
    private final ProcessCalls real = new LinuxProcessCalls();
    private final FaultyKernel.Plan plan;
    private final Set<Integer> started = new TreeSet<>();
    private final Set<Long> initialised = new TreeSet<>();

    public FaultyProcessCalls(FaultyKernel.Plan plan) {
        this.plan = plan;
    }

    /// Returns all children, including exited ones.
    public Set<Integer> started() {
        return Set.copyOf(started);
    }

    /// Returns the structures that were initialised and not destroyed.
    public Set<Long> initialised() {
        return Set.copyOf(initialised);
    }

    /// Returns the children that still run or are zombies.
    public List<Integer> left() {
        return started.stream().filter(FaultyProcessCalls::isThere).toList();
    }

    /// Returns whether a child has not been reaped.
    public static boolean isThere(int pid) {
        int result =
                new LinuxProcessCalls()
                        .waitid(Linux.P_PID, pid, 0, Linux.WEXITED | Linux.WNOHANG | Linux.WNOWAIT);
        return result != -Errno.ECHILD;
    }

    private int call(String name, int fd, IntSupplier really) {
        LongSupplier fault = plan.next(name, fd);
        return fault == null ? really.getAsInt() : (int) fault.getAsLong();
    }

    @Override
    public int fileActionsInit(long actions) {
        int result = call("posix_spawn_file_actions_init", -1, () -> real.fileActionsInit(actions));
        if (result == 0) {
            initialised.add(actions);
        }
        return result;
    }

    @Override
    public int fileActionsDestroy(long actions) {
        initialised.remove(actions);
        int result = real.fileActionsDestroy(actions);
        return call("posix_spawn_file_actions_destroy", -1, () -> result);
    }

    @Override
    public int fileActionsAddOpen(long actions, int fd, long path, int flags, int mode) {
        return call(
                "posix_spawn_file_actions_addopen",
                -1,
                () -> real.fileActionsAddOpen(actions, fd, path, flags, mode));
    }

    @Override
    public int fileActionsAddDup2(long actions, int fd, int newFd) {
        return call(
                "posix_spawn_file_actions_adddup2",
                -1,
                () -> real.fileActionsAddDup2(actions, fd, newFd));
    }

    @Override
    public int fileActionsAddClose(long actions, int fd) {
        return call(
                "posix_spawn_file_actions_addclose",
                -1,
                () -> real.fileActionsAddClose(actions, fd));
    }

    @Override
    public int fileActionsAddCloseFrom(long actions, int lowest) {
        return call(
                "posix_spawn_file_actions_addclosefrom_np",
                -1,
                () -> real.fileActionsAddCloseFrom(actions, lowest));
    }

    @Override
    public int fileActionsAddChdir(long actions, long path) {
        return call(
                "posix_spawn_file_actions_addchdir_np",
                -1,
                () -> real.fileActionsAddChdir(actions, path));
    }

    @Override
    public int attributesInit(long attributes) {
        int result = call("posix_spawnattr_init", -1, () -> real.attributesInit(attributes));
        if (result == 0) {
            initialised.add(attributes);
        }
        return result;
    }

    @Override
    public int attributesDestroy(long attributes) {
        initialised.remove(attributes);
        int result = real.attributesDestroy(attributes);
        return call("posix_spawnattr_destroy", -1, () -> result);
    }

    @Override
    public int attributesSetFlags(long attributes, int flags) {
        return call(
                "posix_spawnattr_setflags", -1, () -> real.attributesSetFlags(attributes, flags));
    }

    @Override
    public int attributesSetSignalMask(long attributes, long signals) {
        return call(
                "posix_spawnattr_setsigmask",
                -1,
                () -> real.attributesSetSignalMask(attributes, signals));
    }

    @Override
    public int attributesSetSignalDefault(long attributes, long signals) {
        return call(
                "posix_spawnattr_setsigdefault",
                -1,
                () -> real.attributesSetSignalDefault(attributes, signals));
    }

    @Override
    public int attributesSetGroup(long attributes, int group) {
        return call(
                "posix_spawnattr_setpgroup", -1, () -> real.attributesSetGroup(attributes, group));
    }

    @Override
    public int spawn(long file, long actions, long attributes, long arguments, long environment) {
        int pid =
                call(
                        "posix_spawnp",
                        -1,
                        () -> real.spawn(file, actions, attributes, arguments, environment));
        if (pid > 0) {
            started.add(pid);
        }
        return pid;
    }

    @Override
    public int pidfdOpen(int pid, int flags) {
        return plan.opened(call("pidfd_open", -1, () -> real.pidfdOpen(pid, flags)));
    }

    @Override
    public int pidfdSendSignal(int pidfd, int signal, int flags) {
        return call("pidfd_send_signal", pidfd, () -> real.pidfdSendSignal(pidfd, signal, flags));
    }

    @Override
    public int waitid(int idType, int id, long info, int options) {
        return call("waitid", id, () -> real.waitid(idType, id, info, options));
    }

    @Override
    public int kill(int pid, int signal) {
        return call("kill", pid, () -> real.kill(pid, signal));
    }
}
