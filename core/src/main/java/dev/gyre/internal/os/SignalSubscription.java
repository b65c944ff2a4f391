package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SignalCalls.SignalSet;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;

import org.jspecify.annotations.Nullable;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// A callback for signals on one loop.
///
/// Signals that every thread blocks are read from a signalfd of this subscription. If several
/// subscriptions share such a signal, each has it in its signalfd, and the first loop that polls
/// reads it for all of them. So a loop that does not run does not delay the others. All other
/// signals arrive through the JVM's handler.
///
/// Either way [SignalRegistry] dispatches the signal, and it is delivered as a priority task. Each
/// signal has at most one task queued: a burst cannot fill the lane, and the kernel does not count
/// signals either.
public final class SignalSubscription implements Signals {
    /// A standard signal is pending at most twice: for the process and for the reading thread.
    private static final int MAX_PENDING = 2 * Signal.values().length;

    private final EventLoop loop;
    private final Consumer<? super Signal> callback;
    private final SignalSources sources;
    private final Map<Signal, Delivery> deliveries = new EnumMap<>(Signal.class);

    // Loop thread only; constant once open.
    private final Set<Signal> byDescriptor = EnumSet.noneOf(Signal.class);
    private final Set<Signal> byHandler = EnumSet.noneOf(Signal.class);
    private final Set<Signal> ignored = EnumSet.noneOf(Signal.class);
    private @Nullable Descriptor descriptor;
    private @Nullable ByteBuffer signalBuffer;

    // Shared: written by the loop thread, read by any.
    private volatile boolean open = true;

    private SignalSubscription(
            SignalSources sources,
            EventLoop loop,
            Set<Signal> signals,
            Consumer<? super Signal> callback) {
        this.sources = sources;
        this.loop = loop;
        this.callback = callback;
        for (Signal signal : signals) {
            deliveries.put(signal, new Delivery(signal));
        }
    }

    public static Signals open(
            EventLoop loop, Collection<Signal> signals, Consumer<? super Signal> callback) {
        return open(SignalSources.of(loop), loop, signals, callback);
    }

    /// Subscribes to all of the signals, or to none if one of them cannot be caught.
    public static SignalSubscription open(
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
            throw new IllegalArgumentException("signals is empty: name at least one");
        }
        long blocked = sources.requireCatchable(wanted);
        SignalSubscription opened = new SignalSubscription(sources, loop, wanted, callback);
        loop.own(opened); // First: it throws on a wrong thread, before anything has changed.
        try {
            opened.attach(blocked);
        } catch (Throwable e) {
            opened.close();
            throw e;
        }
        return opened;
    }

    private void attach(long blocked) {
        if (blocked != 0) {
            readFrom(blocked);
        }
        for (Signal signal : deliveries.keySet()) {
            boolean hasDescriptor = (blocked & BlockedSignals.bit(signal)) != 0;
            if (sources.registry().add(this, signal, !hasDescriptor)) {
                ignored.add(signal);
            }
            (hasDescriptor ? byDescriptor : byHandler).add(signal);
        }
    }

    private void readFrom(long signals) {
        Descriptor opened = OpenDescriptor.fresh(sources.kernels(), signalfd(signals), true);
        descriptor = opened;
        signalBuffer =
                ByteBuffer.allocateDirect(MAX_PENDING * Linux.SIZEOF_SIGNALFD_SIGINFO)
                        .order(ByteOrder.nativeOrder());
        loop.watch(opened, WatchSpec.reading(ready -> read(ready.descriptor()))).unreference();
    }

    private int signalfd(long signals) {
        FdReaper.reclaim(); // Descriptors may have run out.
        SignalSet set = new SignalSet(signals);
        try {
            int flags = Linux.SFD_NONBLOCK | Linux.SFD_CLOEXEC;
            int fd = sources.calls().get().signalfd(-1, set.address(), flags);
            return Errno.require("signalfd", fd, SystemCallException.NO_FD);
        } finally {
            Reference.reachabilityFence(set);
        }
    }

    private void read(Descriptor ready) {
        ByteBuffer buffer = signalBuffer;
        assert buffer != null : "watched without a signalfd";
        buffer.clear();
        int bytes = ready.read(buffer); // 0 if another loop has read them.
        for (int at = 0;
                at + Linux.SIZEOF_SIGNALFD_SIGINFO <= bytes;
                at += Linux.SIZEOF_SIGNALFD_SIGINFO) {
            int number = buffer.getInt(at + Linux.OFFSETOF_SIGNALFD_SIGINFO_SIGNO);
            Signal.of(number).ifPresent(sources.registry()::dispatch);
        }
    }

    /// Any thread. Does nothing once the loop has terminated.
    void deliver(Signal signal) {
        Delivery delivery = deliveries.get(signal);
        assert delivery != null : this + " has no " + signal;
        delivery.request();
    }

    @Override
    public Set<Signal> signals() {
        return Collections.unmodifiableSet(deliveries.keySet());
    }

    @Override
    public Set<Signal> ignored() {
        return Collections.unmodifiableSet(ignored);
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void close() {
        loop.disown(this); // First: it throws on a wrong thread.
        if (!open) {
            return;
        }
        open = false;
        byDescriptor.forEach(signal -> sources.registry().remove(this, signal, false));
        byHandler.forEach(signal -> sources.registry().remove(this, signal, true));
        if (descriptor != null) {
            descriptor.close();
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Signals[");
        String separator = "";
        for (Signal signal : deliveries.keySet()) {
            text.append(separator).append(signal);
            if (byDescriptor.contains(signal)) {
                text.append(" by signalfd");
            } else if (ignored.contains(signal)) {
                text.append(" ignored");
            } else if (byHandler.contains(signal)) {
                text.append(" by the JVM's handler");
            }
            separator = ", ";
        }
        return text.append(open ? "]" : ", closed]").toString();
    }

    /// Runs the callback for one signal, as a task that is queued at most once.
    private final class Delivery implements Runnable {
        private final Signal signal;

        // Shared: set by any thread, cleared by the loop thread.
        private final AtomicBoolean queued = new AtomicBoolean();

        Delivery(Signal signal) {
            this.signal = signal;
        }

        void request() {
            if (!queued.compareAndSet(false, true)) {
                return; // The queued task has not started, so it runs after this signal too.
            }
            try {
                loop.submitPriority(this);
            } catch (LoopTerminatedException e) {
                queued.set(false); // The loop also closes this subscription.
            } catch (RuntimeException e) {
                queued.set(false); // Or no later signal would be delivered.
                throw e;
            }
        }

        @Override
        public void run() {
            queued.set(false); // Before the callback: signals during it queue another task.
            if (open) {
                callback.accept(signal);
            }
        }
    }
}
