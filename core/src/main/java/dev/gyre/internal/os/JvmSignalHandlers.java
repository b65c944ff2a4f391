package dev.gyre.internal.os;

import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Set;

/// The JVM's own signal handler: the one place that knows `sun.misc.Signal`.
///
/// HotSpot's handler in C only counts. A thread of its own, the dispatcher, then starts a new
/// thread for each signal, which calls ours. So what we do here may do anything, and two signals
/// may come in any order.
///
/// By method handles, because javac has a warning for every mention of `sun.misc` that nothing
/// silences, and our warnings are errors.
public final class JvmSignalHandlers {
    private static final String DISPATCHER = "Signal Dispatcher";

    /// The JVM leaves these ignored if they were so when it was started.
    private static final Set<Signal> KEPT_IGNORED =
            Set.of(Signal.SIGHUP, Signal.SIGINT, Signal.SIGTERM);

    /// Linked when first used, so that nothing of it is touched by a program that blocks its
    /// signals.
    private static final class Linked {
        static final Class<?> HANDLER;
        static final MethodHandle NEW_SIGNAL;
        static final MethodHandle HANDLE;

        /// `SignalHandler` from a Runnable.
        static final MethodHandle RUN;

        static final Object SIG_IGN;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                Class<?> signal = Class.forName("sun.misc.Signal");
                HANDLER = Class.forName("sun.misc.SignalHandler");
                NEW_SIGNAL =
                        lookup.findConstructor(
                                        signal, MethodType.methodType(void.class, String.class))
                                .asType(MethodType.methodType(Object.class, String.class));
                HANDLE =
                        lookup.findStatic(
                                        signal,
                                        "handle",
                                        MethodType.methodType(HANDLER, signal, HANDLER))
                                .asType(MethodType.genericMethodType(2));
                RUN =
                        MethodHandles.dropArguments(
                                lookup.findVirtual(
                                        Runnable.class, "run", MethodType.methodType(void.class)),
                                1,
                                signal);
                SIG_IGN = lookup.findStaticVarHandle(HANDLER, "SIG_IGN", HANDLER).get();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(
                        "this JVM has no sun.misc.Signal: add the module jdk.unsupported", e);
            }
        }
    }

    /// Whether there is anybody to call a handler. With -Xrs there is not: HotSpot refuses some
    /// signals then, and accepts handlers for the others that it never calls.
    boolean areCalled() {
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        for (ThreadGroup parent = top; parent != null; parent = parent.getParent()) {
            top = parent;
        }
        // Only the JVM's own threads are right at the top, and they are few.
        @Nullable Thread[] threads = new @Nullable Thread[top.activeCount() + 16];
        int count = top.enumerate(threads, false);
        for (int i = 0; i < count; i++) {
            Thread thread = threads[i];
            if (thread != null && thread.getName().equals(DISPATCHER)) {
                return true;
            }
        }
        return false;
    }

    /// Has `heard` run for each signal, on some thread, instead of whatever was done about it
    /// before.
    ///
    /// @throws IllegalArgumentException if the JVM wants it for itself
    @SuppressWarnings("ReferenceEquality") // it is a constant
    Installed install(Signal signal, Runnable heard) {
        try {
            // Its names lack the SIG.
            Object name = (Object) Linked.NEW_SIGNAL.invokeExact(signal.name().substring(3));
            Object handler =
                    MethodHandleProxies.asInterfaceInstance(
                            Linked.HANDLER, Linked.RUN.bindTo(heard));
            Object previous = handle(name, handler);
            boolean ignored = previous == Linked.SIG_IGN && KEPT_IGNORED.contains(signal);
            return new Installed(name, handler, previous, ignored);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    private static Object handle(Object name, Object handler) {
        try {
            return (Object) Linked.HANDLE.invokeExact(name, handler);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    private static RuntimeException unchecked(Throwable thrown) {
        return switch (thrown) {
            case RuntimeException expected -> expected;
            case Error error -> throw error;
            default -> throw new AssertionError("sun.misc.Signal declares no exception", thrown);
        };
    }

    /// A handler of ours and what it replaced.
    ///
    /// @param isIgnored whether the signal stays ignored nevertheless
    record Installed(Object name, Object handler, Object previous, boolean isIgnored) {

        /// Puts back what was there before. One that somebody else has put in place of ours stays;
        /// to find it there is no way but to replace it for a moment.
        @SuppressWarnings("ReferenceEquality") // ours and no other
        void restore() {
            Object found = handle(name, previous);
            if (found != handler && !isIgnored) {
                Object _ = handle(name, found);
            }
        }
    }
}
