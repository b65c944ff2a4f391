package dev.gyre.internal.os;

import dev.gyre.internal.base.Throwables;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Set;

/// Installs handlers for signals in the JVM. The only class that knows `sun.misc.Signal`.
///
/// HotSpot's handler in C only counts. Its dispatcher thread then starts a new thread for each
/// signal, which calls the installed handler. So a handler may call anything, and two signals may
/// arrive in any order.
///
/// It uses method handles, because javac warns about every mention of `sun.misc`, the warning
/// cannot be suppressed, and warnings are errors in this build.
public final class JvmSignalHandlers {
    private static final String DISPATCHER = "Signal Dispatcher";

    /// The JVM leaves these ignored if it was started with them ignored.
    private static final Set<Signal> KEPT_IGNORED =
            Set.of(Signal.SIGHUP, Signal.SIGINT, Signal.SIGTERM);

    /// Linked at first use, so a program that blocks its signals never loads `sun.misc.Signal`.
    private static final class Linked {
        static final Class<?> HANDLER;
        static final MethodHandle NEW_SIGNAL;
        static final MethodHandle HANDLE;

        /// Adapts a Runnable to `SignalHandler`.
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

    /// Returns whether the JVM calls handlers. With -Xrs it does not. HotSpot then rejects
    /// handlers for some signals, and never calls the other handlers.
    boolean areCalled() {
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        for (ThreadGroup parent = top; parent != null; parent = parent.getParent()) {
            top = parent;
        }
        // Only the JVM's own threads are in the top group, and they are few.
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

    /// Replaces the action of a signal: `action` runs for each one, on any thread.
    ///
    /// @throws IllegalArgumentException if the JVM uses the signal itself
    @SuppressWarnings("ReferenceEquality") // it is a constant
    Installed install(Signal signal, Runnable action) {
        try {
            // The JVM's names lack the prefix SIG.
            Object name = (Object) Linked.NEW_SIGNAL.invokeExact(signal.name().substring(3));
            Object handler =
                    MethodHandleProxies.asInterfaceInstance(
                            Linked.HANDLER, Linked.RUN.bindTo(action));
            Object previous = handle(name, handler);
            boolean ignored = previous == Linked.SIG_IGN && KEPT_IGNORED.contains(signal);
            return new Installed(name, handler, previous, ignored);
        } catch (Throwable e) {
            throw Throwables.rethrow(e); // Unchecked: sun.misc.Signal declares none.
        }
    }

    private static Object handle(Object name, Object handler) {
        try {
            return (Object) Linked.HANDLE.invokeExact(name, handler);
        } catch (Throwable e) {
            throw Throwables.rethrow(e); // Unchecked: sun.misc.Signal declares none.
        }
    }

    /// An installed handler and the one that it replaced.
    ///
    /// @param isIgnored whether the signal stays ignored all the same
    record Installed(Object name, Object handler, Object previous, boolean isIgnored) {

        /// Restores the previous handler. A handler that other code has installed since stays; it
        /// can be read only by replacing it for a moment.
        @SuppressWarnings("ReferenceEquality") // this instance and no other
        void restore() {
            Object found = handle(name, previous);
            if (found != handler && !isIgnored) {
                Object _ = handle(name, found);
            }
        }
    }
}
