package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SignalSet;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// Some signals taken by one callback on one loop.
///
/// Those that every thread blocks are read from a descriptor of this taking's own. If several
/// takings share such a signal each has it in its descriptor, and the first loop to look reads it
/// for all: so it does not matter that one of them does not run just now. All others come by the
/// JVM's handler. Either way the news goes through [SignalRegistry] and arrives as a priority task, at
/// most one for a signal at a time: a burst cannot fill the lane, and means no more than it does
/// to the kernel, which does not count either.
public final class SignalSubscription implements AutoCloseable {
    /// A standard signal is pending at most twice, for the process and for the thread that reads.
    private static final int MAX_PENDING = 2 * Signal.values().length;

    private final EventLoop loop;
    private final Consumer<? super Signal> callback;
    private final SignalSources sources;
    private final Map<Signal, Delivery> deliveries = new EnumMap<>(Signal.class);

    // Loop thread only, and settled once it has begun.
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

    /// Begins to take the signals. If one of them cannot be had, none is taken.
    public static SignalSubscription open(
            SignalSources sources,
            EventLoop loop,
            Set<Signal> signals,
            Consumer<? super Signal> callback) {
        long blocked = sources.requireCatchable(signals);
        SignalSubscription taking = new SignalSubscription(sources, loop, signals, callback);
        loop.own(taking); // First: it throws on a wrong thread, before anything has changed.
        try {
            taking.attach(blocked);
        } catch (Throwable e) {
            taking.close();
            throw e;
        }
        return taking;
    }

    private void attach(long blocked) {
        if (blocked != 0) {
            readFrom(blocked);
        }
        for (Signal signal : deliveries.keySet()) {
            boolean hasDescriptor = (blocked & SignalBits.of(signal)) != 0;
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
        FdReaper.reclaim(); // Numbers may have run out.
        SignalSet set = new SignalSet(signals);
        try {
            int flags = Linux.SFD_NONBLOCK | Linux.SFD_CLOEXEC;
            int fd = sources.calls().get().signalfd(-1, set.address(), flags);
            if (fd < 0) {
                throw new SystemCallException("signalfd", -fd, SystemCallException.NO_FD);
            }
            return fd;
        } finally {
            Reference.reachabilityFence(set);
        }
    }

    private void read(Descriptor ready) {
        ByteBuffer buffer = signalBuffer;
        assert buffer != null : "what is watched has been opened";
        buffer.clear();
        int bytes = ready.read(buffer); // 0 if another loop was faster.
        for (int at = 0;
                at + Linux.SIZEOF_SIGNALFD_SIGINFO <= bytes;
                at += Linux.SIZEOF_SIGNALFD_SIGINFO) {
            int number = buffer.getInt(at + Linux.OFFSETOF_SIGNALFD_SIGINFO_SIGNO);
            Signal.of(number).ifPresent(sources.registry()::dispatch);
        }
    }

    /// Any thread. Does nothing once the loop is over.
    void deliver(Signal signal) {
        Delivery delivery = deliveries.get(signal);
        assert delivery != null : this + " was told of " + signal;
        delivery.request();
    }

    public Set<Signal> signals() {
        return Collections.unmodifiableSet(deliveries.keySet());
    }

    public Set<Signal> ignored() {
        return Collections.unmodifiableSet(ignored);
    }

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

    /// The way of one signal to the callback: a task that is queued at most once.
    private final class Delivery implements Runnable {
        private final Signal signal;

        // Shared: set by whoever hears of the signal, cleared by the loop thread.
        private final AtomicBoolean queued = new AtomicBoolean();

        Delivery(Signal signal) {
            this.signal = signal;
        }

        void request() {
            if (!queued.compareAndSet(false, true)) {
                return; // What is queued already has not begun, so it comes after this signal too.
            }
            try {
                loop.submitPriority(this);
            } catch (LoopTerminatedException e) {
                queued.set(false); // Its end closes this as well: nobody is left to be told.
            } catch (RuntimeException e) {
                queued.set(false); // Or no later one would ever be told.
                throw e;
            }
        }

        @Override
        public void run() {
            queued.set(false); // Before the callback: what comes during it is another one.
            if (open) {
                callback.accept(signal);
            }
        }
    }
}
