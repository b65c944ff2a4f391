package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.SignalSubscription;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/// A subscription to signals, from [#on] until closed. While it is open, the callback replaces the
/// default action of the signals: a subscription to SIGTERM keeps the process running unless the
/// callback terminates it.
///
/// ```java
/// Signals.on(loop, SIGINT, SIGTERM, signal -> loop.shutdown(Duration.ofSeconds(10)));
/// ```
///
/// **Threads.** The callback runs on the loop thread, as a priority task, never inside another
/// callback. The methods are loop-confined like [EventLoop#watch], except for [#isOpen].
///
/// **Order.** The callback runs at least once after a signal was last sent. Signals of one kind
/// that arrive faster than the callback runs may be merged, as the kernel does not count them.
/// Signals of different kinds may be delivered in another order than they were sent.
///
/// **Sharing.** Any number of subscriptions, on any loops, may share a signal: each receives it.
/// The first one replaces the process's action for the signal. Closing the last one restores the
/// previous action, unless other code has installed a handler since. A signal that arrives at that
/// moment goes to either side, or is lost if the JVM was already handling it.
///
/// **Lifetime.** A subscription does not keep the loop alive. The loop holds it and closes it when
/// the loop terminates.
///
/// **Which signals.** Those sent to the process as a whole: SIGHUP, SIGINT, SIGTERM, SIGUSR1,
/// SIGWINCH, SIGCHLD, SIGCONT, SIGTSTP and so on. Rejected are
///
/// | signal | because | instead |
/// |---|---|---|
/// | SIGKILL, SIGSTOP | the kernel lets no process catch them | SIGTERM, SIGTSTP |
/// | SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS | for the faulting thread | `-XX:OnError` |
/// | SIGABRT | the process ends regardless of a callback | `-XX:OnError` |
/// | SIGPIPE, SIGXFSZ | the JVM makes writes fail instead | the failure of the write |
/// | SIGUSR2 | the JVM suspends threads with it | SIGUSR1, or set `_JAVA_SR_SIGNUM=40` |
/// | SIGQUIT | the JVM prints its threads | SIGUSR1, or block it and start with `-Xrs` |
/// | any with `-Xrs`, unless blocked | the JVM calls no handler | block it, or no `-Xrs` |
///
/// SIGPROF is accepted, but a profiler that uses it may replace the handler, or lose the signal.
///
/// SIGHUP, SIGINT and SIGTERM stay ignored if the JVM was started with them ignored, as by `nohup`
/// or in the background of a script. [#ignored()] returns them.
///
/// **How.** A signal that every thread of the process blocks is read from a signalfd. For that,
/// start the JVM as `env --block-signal=USR1 java …`, and for SIGHUP, SIGINT, SIGTERM and SIGQUIT
/// with `-Xrs` as well. The choice is made when the subscription opens. All others arrive through
/// the JVM's own handler, which starts a thread for each signal. `docs/adr/0008-signals.md` has
/// the reasons.
public sealed interface Signals extends AutoCloseable permits SignalSubscription {
    /// Subscribes to a signal.
    ///
    /// @throws IllegalArgumentException if the signal cannot be caught; names the reason and the
    ///     alternative
    /// @throws SystemCallException if the kernel refuses a descriptor; nothing is leaked
    static Signals on(EventLoop loop, Signal signal, Consumer<? super Signal> callback) {
        Objects.requireNonNull(signal, "signal");
        return on(loop, List.of(signal), callback);
    }

    /// Subscribes to two signals. Throws like [#on(EventLoop, Signal, Consumer)]; then it
    /// subscribes to neither.
    static Signals on(EventLoop loop, Signal one, Signal other, Consumer<? super Signal> callback) {
        Objects.requireNonNull(one, "one");
        Objects.requireNonNull(other, "other");
        return on(loop, List.of(one, other), callback);
    }

    /// Subscribes to signals. Throws like [#on(EventLoop, Signal, Consumer)]; then it subscribes to
    /// none of them.
    ///
    /// @throws IllegalArgumentException also if `signals` is empty
    static Signals on(
            EventLoop loop, Collection<Signal> signals, Consumer<? super Signal> callback) {
        return SignalSubscription.open(loop, signals, callback);
    }

    /// Returns the signals, whether open or closed.
    Set<Signal> signals();

    /// Returns the signals that never arrive, because the JVM was started with them ignored.
    Set<Signal> ignored();

    /// Returns whether the subscription is open. Callable from any thread.
    boolean isOpen();

    /// Releases the signals. The callback does not run again, not even for a signal that has
    /// arrived already. Idempotent.
    @Override
    void close();
}
