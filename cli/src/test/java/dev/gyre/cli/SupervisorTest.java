package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/// With processes and a clock that do as they are told.
final class SupervisorTest {
    private static final Exit FAILURE = new Exit.Code(3);
    private static final Exit SUCCESS = new Exit.Code(0);

    /// What happened, in order: what was said, and what was done to processes after a `#`.
    private final List<String> story = new ArrayList<>();

    private final Script script = new Script();

    private final class Script implements Supervisor.Host, Supervisor.Child {
        private record Due(long atNanos, Runnable callback) {}

        private final PriorityQueue<Due> timers =
                new PriorityQueue<>((a, b) -> Long.compare(a.atNanos, b.atNanos));
        private long nowNanos = -5; // a clock may well be negative
        private int pid = 100;
        private int refusal;
        private boolean signalsRefused;
        private Consumer<? super Exit> onExit = exit -> {};

        @Override
        public Supervisor.Child start(Consumer<? super Exit> callback) {
            if (refusal != 0) {
                throw new SystemCallException("posix_spawnp", refusal, "cannot start", "");
            }
            pid++;
            onExit = callback;
            return this;
        }

        @Override
        public Runnable after(Duration delay, Runnable callback) {
            Due due = new Due(nowNanos + delay.toNanos(), callback);
            timers.add(due);
            return () -> timers.remove(due);
        }

        @Override
        public long nowNanos() {
            return nowNanos;
        }

        @Override
        public int pid() {
            return pid;
        }

        @Override
        public void signal(Signal signal) {
            record("process", signal);
        }

        @Override
        public void signalGroup(Signal signal) {
            record("group", signal);
        }

        private void record(String whom, Signal signal) {
            if (signalsRefused) {
                throw new SystemCallException("kill", Errno.EPERM, SystemCallException.NO_FD);
            }
            story.add("# " + signal + " to " + whom + " " + pid);
        }

        void pass(Duration time) {
            long end = nowNanos + time.toNanos();
            for (Due due = timers.peek(); due != null && due.atNanos <= end; due = timers.peek()) {
                Due _ = timers.remove();
                nowNanos = due.atNanos;
                due.callback.run();
            }
            nowNanos = end;
        }

        void exit(Exit exit) {
            onExit.accept(exit);
        }
    }

    private Supervisor supervisor(RestartPolicy.When when, int most) {
        RestartPolicy policy =
                new RestartPolicy(
                        when,
                        Duration.ofMillis(200),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        most);
        Supervisor.Listener listener =
                new Supervisor.Listener() {
                    @Override
                    public void event(String line) {
                        story.add(line);
                    }

                    @Override
                    public void error(String line) {
                        story.add("! " + line);
                    }
                };
        return new Supervisor(
                script,
                policy,
                Duration.ofSeconds(7),
                listener,
                status -> story.add("over: " + status));
    }

    private Supervisor started(RestartPolicy.When when) {
        Supervisor supervisor = supervisor(when, RestartPolicy.NO_LIMIT);
        supervisor.start();
        story.clear();
        return supervisor;
    }

    private List<String> told() {
        List<String> told = List.copyOf(story);
        story.clear();
        return told;
    }

    // ------------------------------------------------------------------ restarts

    @Test
    void end_byFailure_isFollowedByPausesThatDoubleUpToTheLongest() {
        supervisor(RestartPolicy.When.ON_FAILURE, RestartPolicy.NO_LIMIT).start();
        assertThat(told()).containsExactly("started process 101");
        for (int millis : new int[] {200, 400, 800, 1000, 1000}) {
            script.exit(FAILURE);
            assertThat(story)
                    .last()
                    .isEqualTo("restarting in " + Supervisor.format(ofMillis(millis)));
            story.clear();
            script.pass(ofMillis(millis - 1));
            assertThat(told()).isEmpty();
            script.pass(ofMillis(1));
            assertThat(told()).containsExactly("started process " + script.pid);
        }
    }

    @Test
    void end_afterALongRun_beginsANewRow() {
        Supervisor _ = started(RestartPolicy.When.ALWAYS);
        script.exit(FAILURE);
        script.pass(ofMillis(200));
        script.pass(Duration.ofMillis(9_999));
        script.exit(SUCCESS);
        assertThat(story).last().isEqualTo("restarting in 400 ms");
        script.pass(ofMillis(400));
        script.pass(Duration.ofSeconds(10));
        told();
        script.exit(SUCCESS);
        assertThat(told())
                .containsExactly(
                        "# SIGTERM to group 103",
                        "process 103 exited with 0 after 10 s",
                        "restarting in 200 ms");
    }

    @ParameterizedTest
    @CsvSource({
        "NEVER,      0, false",
        "NEVER,      3, false",
        "ON_FAILURE, 0, false",
        "ON_FAILURE, 3, true",
        "ALWAYS,     0, true",
        "ALWAYS,     3, true"
    })
    void end_underEachPolicy_isOrIsNotFollowedByAnother(
            RestartPolicy.When when, int code, boolean restarted) {
        Supervisor _ = started(when);
        script.exit(new Exit.Code(code));
        assertThat(story).last().isEqualTo(restarted ? "restarting in 200 ms" : "over: " + code);
    }

    @Test
    void end_byASignalOrNobodyKnowsHow_isAFailure() {
        Supervisor _ = started(RestartPolicy.When.ON_FAILURE);
        script.exit(new Exit.Killed(11, true));
        assertThat(story).last().isEqualTo("restarting in 200 ms");
        script.pass(ofMillis(200));
        script.exit(new Exit.Unknown());
        assertThat(story).last().isEqualTo("restarting in 400 ms");
    }

    @Test
    void end_afterTheMostRestartsInARow_isForGood() {
        supervisor(RestartPolicy.When.ALWAYS, 1).start();
        script.exit(SUCCESS);
        script.pass(ofMillis(200));
        told();
        script.exit(FAILURE);
        assertThat(told())
                .containsExactly(
                        "# SIGTERM to group 102",
                        "process 102 exited with 3 after 0 ms",
                        "giving up after 1 restart",
                        "over: 3");
        assertThat(script.timers).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        Errno.ENOENT + ", 127",
        Errno.ENOTDIR + ", 127",
        Errno.EACCES + ", 126",
        Errno.EAGAIN + ", 126"
    })
    void start_refusedTheFirstTime_isOver(int errno, int status) {
        script.refusal = errno;
        supervisor(RestartPolicy.When.ALWAYS, 5).start();
        assertThat(told())
                .containsExactly(
                        "! cannot start: %s (%d)".formatted(Errno.name(errno), errno),
                        "over: " + status);
    }

    @Test
    void start_refusedLater_isAFailureLikeAnother() {
        supervisor(RestartPolicy.When.ON_FAILURE, 2).start();
        script.exit(FAILURE);
        script.refusal = Errno.ETXTBSY; // as while a new version is being installed
        told();
        script.pass(ofMillis(200));
        assertThat(told()).containsExactly("! cannot start: ETXTBSY (26)", "restarting in 400 ms");
        script.pass(ofMillis(400));
        assertThat(told())
                .containsExactly(
                        "! cannot start: ETXTBSY (26)", "giving up after 2 restarts", "over: 126");
    }

    // ------------------------------------------------------------------ signals

    @Test
    void stop_obeyed_takesTheCommandsStatusAndTheTimerBack() {
        Supervisor supervisor = started(RestartPolicy.When.ALWAYS);
        supervisor.stop(Signal.SIGTERM);
        script.pass(Duration.ofSeconds(6));
        script.exit(FAILURE);
        assertThat(told())
                .containsExactly(
                        "stopping: SIGTERM forwarded, SIGKILL in 7 s",
                        "# SIGTERM to group 101",
                        "# SIGTERM to group 101",
                        "process 101 exited with 3 after 6 s",
                        "over: 3");
        assertThat(script.timers).isEmpty();
    }

    @Test
    void stop_ignored_kills() {
        Supervisor supervisor = started(RestartPolicy.When.ALWAYS);
        supervisor.stop(Signal.SIGINT);
        told();
        script.pass(Duration.ofSeconds(7));
        assertThat(told())
                .containsExactly(
                        "still running after 7 s: sending SIGKILL", "# SIGKILL to group 101");
        script.exit(new Exit.Killed(9, false));
        assertThat(story).last().isEqualTo("over: 137");
    }

    @Test
    void stop_again_passesItOnWithoutMoreTime() {
        Supervisor supervisor = started(RestartPolicy.When.ALWAYS);
        supervisor.stop(Signal.SIGINT);
        script.pass(Duration.ofSeconds(5));
        told();
        supervisor.stop(Signal.SIGTERM);
        assertThat(told()).containsExactly("SIGTERM forwarded", "# SIGTERM to group 101");
        script.pass(Duration.ofSeconds(2));
        assertThat(story).last().isEqualTo("# SIGKILL to group 101");
    }

    @Test
    void stop_inAPause_isOverAtOnce() {
        Supervisor supervisor = started(RestartPolicy.When.ON_FAILURE);
        script.exit(FAILURE);
        told();
        supervisor.stop(Signal.SIGINT);
        assertThat(told())
                .containsExactly("stopped by SIGINT during the restart pause", "over: 130");
        assertThat(script.timers).isEmpty();
        supervisor.stop(Signal.SIGINT);
        assertThat(told()).isEmpty();
    }

    @Test
    void signals_otherwise_goToTheProcessOrTheGroupWhileThereIsOne() {
        Supervisor supervisor = started(RestartPolicy.When.ON_FAILURE);
        supervisor.forward(Signal.SIGUSR1);
        supervisor.forwardToGroup(Signal.SIGWINCH);
        assertThat(told()).containsExactly("# SIGUSR1 to process 101", "# SIGWINCH to group 101");
        script.exit(FAILURE);
        told();
        supervisor.forward(Signal.SIGUSR1);
        supervisor.forwardToGroup(Signal.SIGWINCH);
        assertThat(told()).isEmpty();
    }

    @Test
    void signals_refused_areToldAndNothingIsLostOfTheRest() {
        Supervisor supervisor = started(RestartPolicy.When.ON_FAILURE);
        script.signalsRefused = true;
        supervisor.stop(Signal.SIGTERM);
        assertThat(story).last().asString().startsWith("! cannot forward the signal: kill: EPERM");
        script.exit(SUCCESS);
        assertThat(story).last().isEqualTo("over: 0");
    }

    // ------------------------------------------------------------------ words and numbers

    @ParameterizedTest
    @CsvSource({"0, 0 ms", "999, 999 ms", "1000, 1 s", "1600, 1.6 s", "30000, 30 s"})
    void time_inWords_isShort(int millis, String expected) {
        assertThat(Supervisor.format(ofMillis(millis))).isEqualTo(expected);
    }

    @Test
    void pause_ofAnyNumber_staysWithinItsBounds() {
        RestartPolicy daily = policy(Duration.ofDays(1), Duration.ofDays(1));
        assertThat(daily.pause(Integer.MAX_VALUE)).isEqualTo(Duration.ofDays(1));
        assertThat(policy(Duration.ZERO, Duration.ofDays(1)).pause(Integer.MAX_VALUE)).isZero();
        assertThat(policy(Duration.ofSeconds(5), Duration.ofSeconds(2)).pause(0))
                .isEqualTo(Duration.ofSeconds(2));
    }

    private static RestartPolicy policy(Duration first, Duration longest) {
        return new RestartPolicy(RestartPolicy.When.ALWAYS, first, longest, Duration.ZERO, 1);
    }

    private static Duration ofMillis(int millis) {
        return Duration.ofMillis(millis);
    }
}
