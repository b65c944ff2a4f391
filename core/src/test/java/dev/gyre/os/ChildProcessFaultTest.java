package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.Outcome;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.os.WatchedProcess;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyProcessCalls;
import dev.gyre.internal.sys.LinuxProcessCalls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Refuses every call: neither a descriptor nor a process nor memory of libc may leak.
class ChildProcessFaultTest {
    private static final Command WITH_EVERYTHING =
            Command.of("sleep", "100")
                    .withInput(Stdio.PIPE)
                    .withOutput(Stdio.PIPE)
                    .withError(Stdio.NULL)
                    .withDirectory(Path.of("/"))
                    .withOwnGroup();

    private final FaultyKernel.Plan plan = new FaultyKernel.Plan();
    private final FaultyKernel kernel = new FaultyKernel(plan);
    private final FaultyProcessCalls processes = new FaultyProcessCalls(plan);
    private EventLoop loop;
    private Set<Integer> before;

    @BeforeEach
    void openLoop() {
        LoopConfig config = LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE);
        loop = Loop.open(config, EpollBackend.open(() -> new FaultyKernel(plan), 16));
        GuardedLoop.guard(loop);
        before = plan.open();
    }

    @AfterEach
    void closeLoop() {
        loop.close();
        assertThat(plan.open()).as("descriptors left open").isEmpty();
        assertThat(processes.left()).as("children left, running or as zombies").isEmpty();
        assertThat(processes.initialised()).as("structures of posix_spawn left").isEmpty();
    }

    private ChildProcess start(Command command) {
        return WatchedProcess.start(loop, command, () -> kernel, () -> processes);
    }

    private void assertNothingIsLeft() {
        assertThat(plan.open()).as("descriptors left open").isEqualTo(before);
        assertThat(processes.left()).as("children left, running or as zombies").isEmpty();
        assertThat(loop.runUntilEmpty()).as("something keeps the loop alive").isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pipe2",
                "fcntl",
                "pidfd_open",
                "posix_spawn_file_actions_init",
                "posix_spawn_file_actions_addopen",
                "posix_spawn_file_actions_adddup2",
                "posix_spawn_file_actions_addclosefrom_np",
                "posix_spawn_file_actions_addchdir_np",
                "posix_spawnattr_init",
                "posix_spawnattr_setflags",
                "posix_spawnattr_setsigmask",
                "posix_spawnattr_setsigdefault",
                "posix_spawnattr_setpgroup",
                "posix_spawnp"
            })
    @Clause({"Y-1", "E-1"})
    void start_refusedACall_startsNothingAndLeavesNothing(String call) {
        plan.fail(call, Errno.ENOMEM);
        assertThatThrownBy(() -> start(WITH_EVERYTHING))
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        refusal -> {
                            assertThat(refusal.call()).startsWith(call);
                            assertThat(refusal.errno()).isEqualTo(Errno.ENOMEM);
                        });
        assertThat(processes.started()).as("nothing was started").isEmpty();
        assertNothingIsLeft();
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void start_refusedAtTheSecondPipe_closesTheFirst() {
        plan.answer("fcntl", () -> 0).answer("fcntl", () -> 0); // The flags of the first.
        plan.fail("fcntl", Errno.ENOMEM);
        assertThatThrownBy(() -> start(WITH_EVERYTHING)).hasMessageContaining("ENOMEM");
        assertThat(plan.count("pipe2")).isEqualTo(2);
        assertNothingIsLeft();
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void start_refusedToCloseOneByOne_leavesNothing() {
        plan.fail("posix_spawn_file_actions_addclosefrom_np", Errno.ENOSYS);
        plan.fail("posix_spawn_file_actions_addclose", Errno.ENOMEM);
        assertThatThrownBy(() -> start(WITH_EVERYTHING))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("addclose");
        assertNothingIsLeft();
    }

    @Test
    @Clause("Y-1")
    void start_inADirectoryWithoutLibcsHelp_saysWhatIsMissing() {
        plan.fail("posix_spawn_file_actions_addchdir_np", Errno.ENOSYS);
        assertThatThrownBy(() -> start(WITH_EVERYTHING))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("'sleep'")
                .hasMessageContaining("glibc 2.29");
        assertNothingIsLeft();
    }

    @Test
    @Clause("Y-1")
    void start_onAnOldKernel_saysWhichIsNeeded() {
        plan.fail("pidfd_open", Errno.ENOSYS);
        assertThatThrownBy(() -> start(WITH_EVERYTHING)).hasMessageContaining("Linux 5.4");
        assertNothingIsLeft();
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void start_whoseChildCannotBeWatched_killsAndReapsIt() {
        letTheFirstPidfdPass();
        plan.fail("pidfd_open", Errno.EMFILE);
        plan.answer("waitid", () -> -Errno.EINTR);
        assertThatThrownBy(() -> start(WITH_EVERYTHING)).hasMessageContaining("ulimit -n");
        assertThat(processes.started()).hasSize(1);
        assertNothingIsLeft();
    }

    /// The one that is opened before the child starts.
    private void letTheFirstPidfdPass() {
        int self = (int) ProcessHandle.current().pid();
        plan.answer("pidfd_open", () -> new LinuxProcessCalls().pidfdOpen(self, 0));
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void start_whoseChildTheLoopCannotWatch_killsAndReapsIt() {
        plan.fail("epoll_ctl", Errno.ENOSPC);
        assertThatThrownBy(() -> start(WITH_EVERYTHING)).hasMessageContaining("max_user_watches");
        assertThat(processes.started()).hasSize(1);
        assertNothingIsLeft();
    }

    @Test
    @Clause("Y-1")
    void start_ofAChildThatIsGoneAndForgottenAtOnce_tellsAnUnknownExit() {
        letTheFirstPidfdPass();
        plan.fail("pidfd_open", Errno.ESRCH);
        List<Exit> told = new ArrayList<>();
        ChildProcess child = start(Command.of("true").withOwnGroup()).onExit(told::add);
        loop.runUntilEmpty();
        assertThat(told).containsExactly(new Exit.Unknown());
        assertThat(child.exited().outcome()).isEqualTo(new Outcome.Resolved<>(new Exit.Unknown()));
        assertThat(child.isAlive()).isFalse();
        assertThat(child.signal(Signal.SIGTERM)).isFalse();
        assertThat(child.signalGroup(Signal.SIGTERM)).isFalse();
        // The process still exists, since only the result was faked.
        int result;
        do {
            result = new LinuxProcessCalls().waitid(1, child.pid(), 0, 4);
        } while (result == -Errno.EINTR);
    }

    @Test
    @Clause("Y-1")
    void exit_thatSomebodyElseWasTold_isUnknown() {
        plan.fail("waitid", Errno.EINTR);
        plan.fail("waitid", Errno.ECHILD);
        List<Exit> told = new ArrayList<>();
        start(Command.of("true")).onExit(told::add);
        loop.runUntilEmpty();
        assertThat(told).containsExactly(new Exit.Unknown());
    }

    @Test
    @Clause("Y-1")
    void exit_thatIsNotThereYet_isWaitedForAgain() {
        plan.answer("waitid", () -> 0); // And nothing written: the process has not ended.
        List<Exit> told = new ArrayList<>();
        start(Command.of("true")).onExit(told::add);
        loop.runUntilEmpty();
        assertThat(told).containsExactly(new Exit.Code(0));
    }

    @Test
    @Clause("Y-1")
    void exit_thatIsNotThereForLong_asOfATracedChild_doesNotMakeTheLoopSpin() {
        for (int i = 0; i < 6; i++) {
            plan.answer("waitid", () -> 0);
        }
        List<Exit> told = new ArrayList<>();
        long begin = System.nanoTime();
        start(Command.of("true")).onExit(told::add);
        loop.runUntilEmpty();
        assertThat(told).containsExactly(new Exit.Code(0));
        assertThat(System.nanoTime() - begin)
                .as("pauses of 1, 2, 4 … ms between the looks")
                .isGreaterThan(63_000_000);
        assertThat(loop.metrics().ticks()).as("turns meanwhile").isLessThan(60);
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void exit_thatTheKernelRefusesToTell_isUnknownAndTheRefusalIsReported() {
        plan.fail("waitid", Errno.EINVAL);
        List<Exit> told = new ArrayList<>();
        start(Command.of("true")).onExit(told::add);
        assertThatThrownBy(loop::runUntilEmpty)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("waitid(P_PIDFD)");
        loop.runUntilEmpty();
        assertThat(told).containsExactly(new Exit.Unknown());
        assertNothingIsLeft();
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void signal_refused_isToldAndOfAGoneProcessFalse() {
        ChildProcess child = start(Command.of("cat").withInput(Stdio.PIPE).withOwnGroup());
        plan.fail("pidfd_send_signal", Errno.EPERM);
        assertThatThrownBy(() -> child.signal(Signal.SIGTERM)).hasMessageContaining("EPERM");
        plan.fail("pidfd_send_signal", Errno.ESRCH);
        assertThat(child.signal(Signal.SIGTERM)).isFalse();
        plan.fail("kill", Errno.EPERM);
        assertThatThrownBy(() -> child.signalGroup(Signal.SIGTERM)).hasMessageContaining("EPERM");
        plan.fail("kill", Errno.ESRCH);
        assertThat(child.signalGroup(Signal.SIGTERM)).isFalse();
        child.input().close();
        loop.runUntilEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pidfd_open", "epoll_ctl"})
    @Clause({"Y-1", "E-1"})
    void adopt_refused_leavesNothing(String call) {
        plan.fail(call, Errno.ENOMEM);
        long self = ProcessHandle.current().pid();
        assertThatThrownBy(() -> WatchedProcess.adopt(loop, self, () -> kernel, () -> processes))
                .isInstanceOf(SystemCallException.class);
        assertNothingIsLeft();
    }

    @Test
    @Clause("Y-1")
    void adopt_ofAThread_saysSo() {
        plan.fail("pidfd_open", Errno.EINVAL);
        assertThatThrownBy(() -> WatchedProcess.adopt(loop, 7, () -> kernel, () -> processes))
                .hasMessage(
                        "cannot watch process 7: EINVAL (22): the id is that of a thread, not of a"
                                + " process");
    }
}
