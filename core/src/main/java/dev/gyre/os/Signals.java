package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.SignalSources;
import dev.gyre.internal.os.SignalSubscription;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/// Signals that a callback takes, from [#on] until closed. What the process would have done about
/// them does not happen meanwhile: with SIGTERM taken, the process goes on unless the callback
/// ends it.
///
/// ```java
/// Signals.on(loop, SIGINT, SIGTERM, signal -> loop.shutdown(Duration.ofSeconds(10)));
/// ```
///
/// **Threads.** The callback runs on the loop thread, as a priority task, never in the middle of
/// another callback. The methods are loop-confined like [EventLoop#watch], except for [#isOpen].
///
/// **Order.** A signal is heard of at least once after it was last sent. Signals of one kind that
/// come faster than the callback runs may be heard of once together, as the kernel itself does not
/// count them; those of different kinds may be heard of in another order than they were sent in.
///
/// **Sharing.** Any number of these, on any loops, may take the same signal: each hears of it. The
/// first one changes what the process does about the signal. When the last one is closed, that is
/// again what it was before; a handler that somebody else has installed since is left alone. A
/// signal that comes just then goes to one side or the other, or is lost if the JVM had it in hand
/// already.
///
/// **Life.** It does not keep the loop alive. The loop holds it, and closes it when the loop ends.
///
/// **Which signals.** Those meant for the process as a whole: SIGHUP, SIGINT, SIGTERM, SIGUSR1,
/// SIGWINCH, SIGCHLD, SIGCONT, SIGTSTP and so on. Refused are
///
/// | signal | because | instead |
/// |---|---|---|
/// | SIGKILL, SIGSTOP | the kernel lets nobody catch them | SIGTERM, SIGTSTP |
/// | SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS | for the thread at fault | `-XX:OnError` |
/// | SIGABRT | the process ends whatever a callback wants | `-XX:OnError` |
/// | SIGPIPE, SIGXFSZ | the JVM has writes fail instead | the failure of the write |
/// | SIGUSR2 | the JVM suspends threads with it | SIGUSR1, or set `_JAVA_SR_SIGNUM=40` |
/// | SIGQUIT | the JVM prints its threads | SIGUSR1, or block it and start with `-Xrs` |
/// | any with `-Xrs`, unless blocked | the JVM tells nobody | block it, or no `-Xrs` |
///
/// SIGPROF can be taken, but a profiler that uses it takes it away, or loses it.
///
/// SIGHUP, SIGINT and SIGTERM stay ignored if they were so when the JVM was started, as with
/// `nohup` or in the background of a script: that is the wish of whoever started it. [#ignored()]
/// tells.
///
/// **How.** A signal that every thread of the process blocks is read from a descriptor of the
/// kernel's. For that the JVM has to be started so: `env --block-signal=USR1 java …`, and for
/// SIGHUP, SIGINT, SIGTERM and SIGQUIT with `-Xrs` as well. It is decided when the signal is
/// taken. All others come by way of the JVM's own handler, which costs a thread for each signal
/// that arrives. `docs/adr/0008-signals.md` has the reasons.
public final class Signals implements AutoCloseable {
    private final SignalSubscription taking;

    private Signals(SignalSubscription taking) {
        this.taking = taking;
    }

    /// Takes a signal.
    ///
    /// @throws IllegalArgumentException if it cannot be taken; says why and what to do instead
    /// @throws SystemCallException if the kernel refuses a descriptor; nothing is leaked then
    public static Signals on(EventLoop loop, Signal signal, Consumer<? super Signal> callback) {
        Objects.requireNonNull(signal, "signal");
        return on(loop, EnumSet.of(signal), callback);
    }

    /// Takes two signals. Throws like [#on(EventLoop, Signal, Consumer)], and then takes neither.
    public static Signals on(
            EventLoop loop, Signal one, Signal other, Consumer<? super Signal> callback) {
        Objects.requireNonNull(one, "one");
        Objects.requireNonNull(other, "other");
        return on(loop, EnumSet.of(one, other), callback);
    }

    /// Takes signals. Throws like [#on(EventLoop, Signal, Consumer)], and then takes none of them.
    ///
    /// @throws IllegalArgumentException also if there is no signal among them
    public static Signals on(
            EventLoop loop, Collection<Signal> signals, Consumer<? super Signal> callback) {
        return on(SignalSources.of(loop), loop, signals, callback);
    }

    static Signals on(
            SignalSources sources,
            EventLoop loop,
            Collection<Signal> signals,
            Consumer<? super Signal> callback) {
        Objects.requireNonNull(loop, "loop");
        Objects.requireNonNull(callback, "callback");
        Set<Signal> wanted = EnumSet.noneOf(Signal.class);
        for (Signal signal : signals) {
            wanted.add(Objects.requireNonNull(signal, "signal"));
        }
        if (wanted.isEmpty()) {
            throw new IllegalArgumentException("signals is empty: name at least one to take");
        }
        return new Signals(SignalSubscription.open(sources, loop, wanted, callback));
    }

    /// The signals, whether open or not.
    public Set<Signal> signals() {
        return taking.signals();
    }

    /// Those of the signals that never arrive, since the JVM was started with them ignored.
    public Set<Signal> ignored() {
        return taking.ignored();
    }

    /// Whether it has not been closed yet. Callable from any thread.
    public boolean isOpen() {
        return taking.isOpen();
    }

    /// Gives the signals back. The callback does not run any more, not even for a signal that has
    /// arrived already. Idempotent.
    @Override
    public void close() {
        taking.close();
    }

    /// The signals, and how each of them gets here.
    @Override
    public String toString() {
        return taking.toString();
    }
}
