package dev.gyre.internal.net;

import dev.gyre.CancellationSource;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.internal.time.Durations;
import dev.gyre.io.Descriptor;
import dev.gyre.io.Resolver;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;

import org.jspecify.annotations.Nullable;

import java.net.Inet6Address;
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
import java.util.Objects;

/// Connects a stream socket. The addresses of a host race each other (Happy Eyeballs, RFC 8305):
/// the next attempt starts 250 ms after the previous one, or at once if an attempt fails. The first
/// socket to connect wins.
///
/// Once the race is decided, the other attempts are cancelled. Each closes its socket when its
/// operation completes, because the kernel may already have connected it. A failure is reported
/// only after that, so that no descriptor is left. A success is reported at once.
///
/// Loop thread only.
public final class SocketConnector implements AutoCloseable {
    /// The delay that RFC 8305 recommends between two attempts.
    private static final Duration ATTEMPT_DELAY = Duration.ofMillis(250);

    /// Bounds the work that a misconfigured name server can cause.
    static final int MAX_ADDRESSES = 64;

    private final EventLoop loop;
    private final SyscallFactories syscalls;
    private final SocketAddress target;
    private final SocketSettings settings;
    private final Deferred<Descriptor> outcome;

    private final Deque<SocketAddress> untried = new ArrayDeque<>();
    private final List<Attempt> inFlight = new ArrayList<>();
    private final List<SystemCallException> failures = new ArrayList<>();
    private @Nullable CancellationSource lookup;
    private @Nullable Timer deadline;
    private @Nullable Timer nextAttempt;
    private boolean decided;

    /// The rejection reason once the race is lost.
    private @Nullable Throwable failure;

    private SocketConnector(EventLoop loop, SocketAddress target, SocketSettings settings) {
        this.loop = loop;
        this.target = target;
        this.settings = settings;
        syscalls = Loop.of(loop).operations().syscalls();
        outcome = loop.deferred();
    }

    /// Connects to an address, or to the first reachable address of a host.
    ///
    /// The promise is rejected with a [SystemCallException], a [SocketTimeoutException], or the
    /// exception of the resolver, such as an [UnknownHostException].
    ///
    /// @param timeout includes the name lookup; zero for the system's own limit
    /// @throws IllegalArgumentException if the address cannot be connected to, or the timeout is
    ///     negative
    public static Promise<Descriptor> connect(
            EventLoop loop,
            SocketAddress to,
            SocketSettings settings,
            Duration timeout,
            Resolver resolver) {
        Objects.requireNonNull(to, "to");
        Objects.requireNonNull(settings, "settings");
        Objects.requireNonNull(resolver, "resolver");
        long timeoutNanos = Durations.saturatedNanos("timeout", timeout);
        InetSocketAddress internet = to instanceof InetSocketAddress some ? some : null;
        InetSocketAddress name = internet != null && internet.isUnresolved() ? internet : null;
        if (name == null) {
            SocketAddresses.requireEncodable(to);
        }
        if (internet != null && internet.getPort() == 0) {
            throw new IllegalArgumentException("cannot connect to port 0: " + to);
        }
        SocketConnector race = new SocketConnector(loop, to, settings);
        loop.own(race);
        if (timeoutNanos > 0) {
            Duration limit = Duration.ofNanos(timeoutNanos);
            race.deadline = loop.after(limit, _ -> race.timedOut(limit));
        }
        if (name != null) {
            race.lookUp(resolver, name);
        } else {
            race.start(List.of(to));
        }
        return race.outcome.promise();
    }

    private void lookUp(Resolver resolver, InetSocketAddress unresolved) {
        CancellationSource source = new CancellationSource();
        lookup = source;
        String host = unresolved.getHostString();
        loop.promisify(source.cancellation(), _ -> resolve(resolver, host))
                .finallyRun(() -> lookup = null)
                .thenAccept(found -> start(interleaved(found, unresolved.getPort())))
                .recover(
                        reason -> {
                            fail(reason); // Ignored if the race was decided before.
                            return null;
                        });
    }

    private static List<InetAddress> resolve(Resolver resolver, String host)
            throws UnknownHostException {
        List<InetAddress> found = List.copyOf(resolver.resolve(host));
        if (found.isEmpty()) {
            throw new UnknownHostException(host + ": the resolver found no address");
        }
        return found;
    }

    /// Alternates between the address families, starting with the family of the first address. An
    /// unreachable family then costs one attempt, not all of its addresses (RFC 8305, section 4).
    static List<SocketAddress> interleaved(List<InetAddress> found, int port) {
        Deque<InetAddress> same = new ArrayDeque<>();
        Deque<InetAddress> other = new ArrayDeque<>();
        boolean six = !found.isEmpty() && found.getFirst() instanceof Inet6Address;
        for (InetAddress address : found) {
            (address instanceof Inet6Address == six ? same : other).add(address);
        }
        List<SocketAddress> ordered = new ArrayList<>();
        while (ordered.size() < MAX_ADDRESSES && !(same.isEmpty() && other.isEmpty())) {
            for (Deque<InetAddress> family : List.of(same, other)) {
                InetAddress next = family.poll();
                if (next != null && ordered.size() < MAX_ADDRESSES) {
                    ordered.add(new InetSocketAddress(next, port));
                }
            }
        }
        return ordered;
    }

    private final class Attempt {
        final SocketAddress to;
        final OpenDescriptor socket;
        final Operation operation;

        Attempt(SocketAddress to) {
            this.to = to;
            socket = open(to);
            try {
                operation = Operations.on(loop).connect(socket, to, this::completed);
                operation.start();
            } catch (Throwable e) {
                socket.close();
                throw e;
            }
        }

        private void completed(Operation done) {
            long result = done.result();
            done.release();
            inFlight.remove(this);
            if (decided) {
                socket.close();
                finishIfIdle();
            } else if (result == 0) {
                decide();
                outcome.resolve(socket);
                finishIfIdle();
            } else {
                socket.close();
                failures.add(failure(to, (int) -result));
                tryNext();
            }
        }
    }

    private OpenDescriptor open(SocketAddress to) {
        try {
            return settings.stream(syscalls, to);
        } catch (SystemCallException e) {
            SystemCallException named =
                    new SystemCallException(
                            e.call(),
                            e.errno(),
                            "cannot connect to " + to + ": no socket is available",
                            Errno.connectHint(to, e.errno()));
            named.initCause(e);
            throw named;
        }
    }

    private void start(List<? extends SocketAddress> addresses) {
        if (!decided) {
            untried.addAll(addresses);
            tryNext();
        }
    }

    private void tryNext() {
        cancel(nextAttempt);
        nextAttempt = null;
        SocketAddress to = untried.poll();
        while (to != null) {
            if (tryConnect(to)) {
                if (!untried.isEmpty()) {
                    nextAttempt = loop.after(ATTEMPT_DELAY, _ -> tryNext());
                }
                return;
            }
            to = untried.poll();
        }
        if (inFlight.isEmpty()) {
            fail(allFailed());
        }
    }

    private boolean tryConnect(SocketAddress to) {
        try {
            inFlight.add(new Attempt(to));
            return true;
        } catch (SystemCallException e) {
            failures.add(e);
            return false;
        } catch (Throwable e) {
            fail(e);
            return true;
        }
    }

    private void decide() {
        decided = true;
        untried.clear();
        cancel(deadline);
        cancel(nextAttempt);
        if (lookup != null) {
            lookup.cancel();
        }
        for (Attempt attempt : List.copyOf(inFlight)) {
            attempt.operation.cancel();
        }
    }

    private static void cancel(@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    private void fail(Throwable reason) {
        if (!decided) {
            failure = reason;
            decide();
            finishIfIdle();
        }
    }

    private void finishIfIdle() {
        if (inFlight.isEmpty()) {
            loop.disown(this);
            Throwable reason = failure;
            if (reason != null) {
                outcome.reject(reason);
            }
        }
    }

    private void timedOut(Duration timeout) {
        StringBuilder text = new StringBuilder("cannot connect to ");
        text.append(target).append(" within ").append(Checks.format(timeout));
        if (lookup != null) {
            text.append(": the name lookup is still in progress");
        }
        String separator = ": no response from ";
        for (Attempt attempt : inFlight) {
            text.append(separator).append(attempt.to);
            separator = ", ";
        }
        SocketTimeoutException late = new SocketTimeoutException(text.toString());
        failures.forEach(late::addSuppressed);
        fail(late);
    }

    static SystemCallException failure(SocketAddress to, int errno) {
        return new SystemCallException(
                "connect", errno, "cannot connect to " + to, Errno.connectHint(to, errno));
    }

    private SystemCallException allFailed() {
        SystemCallException first = failures.getFirst();
        if (failures.size() == 1) {
            return first;
        }
        StringBuilder each = new StringBuilder();
        for (SystemCallException failed : failures) {
            each.append("\n    ").append(failed.getMessage());
        }
        SystemCallException all =
                new SystemCallException(
                        "connect",
                        first.errno(),
                        "cannot connect to any of the "
                                + failures.size()
                                + " addresses of "
                                + target,
                        each.toString());
        all.initCause(first);
        return all;
    }

    /// Closes the sockets of attempts in flight when the loop ends. The loop rejects the promise.
    @Override
    public void close() {
        decided = true;
        for (Attempt attempt : inFlight) {
            attempt.socket.close();
        }
    }
}
