package dev.gyre.internal.net;

import dev.gyre.CancellationSource;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.Descriptor;
import dev.gyre.io.Resolver;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// One connection to be made, by as many attempts as it takes: RFC 8305. The next address has its turn when the last
/// attempt has had a quarter of a second, or as soon as one fails; the first that is connected wins.
///
/// However it ends, attempts that are under way are cancelled and their ends awaited, and each closes its socket then:
/// the kernel may be through with one already. A failure is told only after that, so that who hears of it knows that
/// nothing is left; a success is told at once.
///
/// Loop thread only.
final class ConnectRace implements AutoCloseable {
    /// What RFC 8305 recommends: long enough for an answer from far away, short enough for who waits.
    private static final Duration HEAD_START = Duration.ofMillis(250);

    private final EventLoop loop;
    private final Syscalls seam;
    private final SocketAddress target;
    private final SocketSettings options;
    private final Deferred<Descriptor> outcome;

    private final Deque<SocketAddress> untried = new ArrayDeque<>();
    private final List<ConnectAttempt> underWay = new ArrayList<>();
    private final List<SystemCallException> failures = new ArrayList<>();
    private @Nullable CancellationSource lookingUp;
    private @Nullable Timer deadline;
    private @Nullable Timer nextTurn;
    private boolean decided;

    /// What it ends with once nothing is left of it; null as long as it may succeed.
    private @Nullable Throwable verdict;

    ConnectRace(EventLoop loop, SocketAddress target, SocketSettings options) {
        this.loop = loop;
        this.target = target;
        this.options = options;
        seam = Loop.of(loop).operations().syscalls();
        outcome = loop.deferred();
    }

    // ------------------------------------------------------------------ beginning

    /// Begins with addresses that are known.
    Promise<Descriptor> begin(long timeoutNanos, List<? extends SocketAddress> addresses) {
        begin(timeoutNanos);
        run(addresses);
        return outcome.promise();
    }

    /// Begins with a name that has to be looked up.
    Promise<Descriptor> begin(long timeoutNanos, Resolver resolver, InetSocketAddress unresolved) {
        begin(timeoutNanos);
        CancellationSource source = new CancellationSource();
        lookingUp = source;
        String host = unresolved.getHostString();
        loop.promisify(source.cancellation(), canceller -> found(resolver, host))
                .finallyRun(() -> lookingUp = null)
                .thenAccept(found -> run(AddressOrder.interleaved(found, unresolved.getPort())))
                .recover(
                        reason -> {
                            giveUp(reason); // Unless it was given up before, and cancelled for
                            // that.
                            return null;
                        });
        return outcome.promise();
    }

    private static List<InetAddress> found(Resolver resolver, String host)
            throws UnknownHostException {
        List<InetAddress> found = List.copyOf(resolver.resolve(host));
        if (found.isEmpty()) {
            throw new UnknownHostException(host + ": the resolver found no address");
        }
        return found;
    }

    private void begin(long timeoutNanos) {
        loop.own(this);
        if (timeoutNanos > 0) {
            Duration timeout = Duration.ofNanos(timeoutNanos);
            deadline = loop.after(timeout, timer -> timedOut(timeout));
        }
    }

    // ------------------------------------------------------------------ attempts

    private void run(List<? extends SocketAddress> addresses) {
        if (!decided) {
            untried.addAll(addresses);
            tryNext();
        }
    }

    /// Begins attempts until one is under way.
    private void tryNext() {
        stop(nextTurn);
        nextTurn = null;
        SocketAddress to = untried.poll();
        while (to != null) {
            if (begun(to)) {
                if (!untried.isEmpty()) {
                    nextTurn = loop.after(HEAD_START, timer -> tryNext());
                }
                return;
            }
            to = untried.poll();
        }
        if (underWay.isEmpty()) {
            giveUp(allFailed());
        }
    }

    private boolean begun(SocketAddress to) {
        try {
            underWay.add(new ConnectAttempt(loop, seam, options, to, this::ended));
            return true;
        } catch (SystemCallException e) {
            failures.add(e);
            return false;
        } catch (Throwable e) {
            giveUp(e);
            return true;
        }
    }

    private void ended(ConnectAttempt attempt, long result) {
        underWay.remove(attempt);
        if (decided) {
            attempt.socket.close();
            finishWhenNothingIsLeft();
        } else if (result == 0) {
            decide();
            outcome.resolve(attempt.socket);
            finishWhenNothingIsLeft();
        } else {
            attempt.socket.close();
            failures.add(ConnectAttempt.failure(attempt.to, (int) -result));
            tryNext();
        }
    }

    // ------------------------------------------------------------------ ending

    /// Nothing more is begun, and what is under way is to end.
    private void decide() {
        decided = true;
        untried.clear();
        stop(deadline);
        stop(nextTurn);
        if (lookingUp != null) {
            lookingUp.cancel();
        }
        for (ConnectAttempt attempt : List.copyOf(underWay)) {
            attempt.cancel();
        }
    }

    private static void stop(@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    private void giveUp(Throwable why) {
        if (!decided) {
            verdict = why;
            decide();
            finishWhenNothingIsLeft();
        }
    }

    private void finishWhenNothingIsLeft() {
        if (underWay.isEmpty()) {
            loop.disown(this);
            Throwable why = verdict;
            if (why != null) {
                outcome.reject(why);
            }
        }
    }

    private void timedOut(Duration timeout) {
        StringBuilder text = new StringBuilder("cannot connect to ");
        text.append(target).append(" within ").append(inWords(timeout));
        if (lookingUp != null) {
            text.append(": its name is still being looked up");
        }
        String separator = ": no answer from ";
        for (ConnectAttempt attempt : underWay) {
            text.append(separator).append(attempt.to);
            separator = ", ";
        }
        SocketTimeoutException late = new SocketTimeoutException(text.toString());
        failures.forEach(late::addSuppressed);
        giveUp(late);
    }

    private static String inWords(Duration duration) {
        return duration.toMillis() < 1_000
                ? duration.toMillis() + " ms"
                : duration.toMillis() / 1_000.0 + " s";
    }

    private SystemCallException allFailed() {
        SystemCallException first = failures.getFirst();
        if (failures.size() == 1) {
            return first;
        }
        StringBuilder each = new StringBuilder();
        for (SystemCallException failure : failures) {
            each.append("\n    ").append(failure.getMessage());
        }
        SystemCallException all =
                new SystemCallException(
                        "connect",
                        first.errno(),
                        "cannot connect to "
                                + target
                                + " by any of its "
                                + failures.size()
                                + " addresses",
                        each.toString());
        all.initCause(first);
        return all;
    }

    /// The loop is over: nobody will hear of the attempts any more. Their promise is the loop's to reject.
    @Override
    public void close() {
        decided = true;
        for (ConnectAttempt attempt : underWay) {
            attempt.socket.close();
        }
    }
}
