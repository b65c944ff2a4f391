package dev.gyre.internal.base;

import dev.gyre.ShutdownReport;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.Stall;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;
import jdk.jfr.Timespan;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.stream.Collectors;

/// The events of the JDK Flight Recorder: clause V-4. A runtime image may lack the module
/// `jdk.jfr`. So no class of an event is loaded before a recording was started.
///
/// Any thread.
@SuppressWarnings({"unused", "UnusedVariable"}) // the recorder reads the fields
public final class FlightEvents {
    private static final boolean PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightEvents() {}

    /// Returns whether a recording was ever started. Then events are worth their arguments.
    public static boolean isOn() {
        return PRESENT && FlightRecorder.isInitialized();
    }

    public static void stall(Stall stall) {
        if (isOn()) {
            StallEvent.commit(stall);
        }
    }

    public static void slowCallback(String loop, CallbackKind kind, long elapsedNanos) {
        if (isOn()) {
            SlowCallbackEvent.commit(loop, kind, elapsedNanos);
        }
    }

    /// Begins the event of a shutdown.
    ///
    /// @return for [#endDrain]; null without a recording
    public static @Nullable Object beginDrain(String loop) {
        return isOn() ? LoopDrainEvent.begin(loop) : null;
    }

    public static void endDrain(@Nullable Object begun, ShutdownReport report) {
        if (begun != null) {
            LoopDrainEvent.end(begun, report);
        }
    }

    /// A listener closed a connection at once.
    ///
    /// @param cause what the listener lacked: `limit` or `descriptors`
    public static void connectionRefused(String loop, Object listener, String cause) {
        if (isOn()) {
            ConnectionRefusedEvent.commit(loop, listener.toString(), cause);
        }
    }

    /// Descriptors or kernel memory ran out.
    ///
    /// @param remedy the limit, and how to raise it
    public static void exhausted(String remedy) {
        if (isOn()) {
            DescriptorExhaustionEvent.commit(false, 0, 0, remedy);
        }
    }

    /// Descriptors are available again.
    ///
    /// @param shed how many connections were shed meanwhile
    public static void recovered(Duration after, long shed) {
        if (isOn()) {
            DescriptorExhaustionEvent.commit(true, after.toNanos(), shed, "");
        }
    }

    /// A connection was closed. Callers check [#isOn()] first.
    public static void connection(
            String loop,
            long id,
            String peer,
            String reason,
            Duration age,
            long received,
            long sent) {
        ConnectionEvent.commit(loop, id, peer, reason, age, received, sent);
    }

    @Name("dev.gyre.Stall")
    @Label("Stall")
    @Category("Gyre")
    @Description("A callback blocked its loop for longer than the limit of the watchdog")
    @StackTrace(false)
    private static final class StallEvent extends Event {
        @Label("Loop")
        private String loop = "";

        @Label("Kind")
        private String kind = "";

        @Label("Callback")
        private String description = "";

        @Label("Elapsed")
        @Timespan
        private long elapsed;

        @Label("Limit")
        @Timespan
        private long limit;

        @Label("Ended")
        private boolean ended;

        @Label("Stack")
        private String stack = "";

        static void commit(Stall stall) {
            StallEvent event = new StallEvent();
            if (event.shouldCommit()) {
                event.loop = stall.loop();
                event.kind = stall.kind().name();
                event.description = stall.description();
                event.elapsed = stall.elapsed().toNanos();
                event.limit = stall.limit().toNanos();
                event.ended = stall.ended();
                event.stack =
                        stall.stack().stream()
                                .map(StackTraceElement::toString)
                                .collect(Collectors.joining("\n"));
                event.commit();
            }
        }
    }

    @Name("dev.gyre.SlowCallback")
    @Label("Slow Callback")
    @Category("Gyre")
    @Description("A callback, with its microtasks, took 10 ms or longer")
    @StackTrace(false)
    private static final class SlowCallbackEvent extends Event {
        @Label("Loop")
        private String loop = "";

        @Label("Kind")
        private String kind = "";

        @Label("Elapsed")
        @Timespan
        private long elapsed;

        static void commit(String loop, CallbackKind kind, long elapsedNanos) {
            SlowCallbackEvent event = new SlowCallbackEvent();
            event.loop = loop;
            event.kind = kind.name();
            event.elapsed = elapsedNanos;
            event.commit();
        }
    }

    @Name("dev.gyre.LoopDrain")
    @Label("Loop Drain")
    @Category("Gyre")
    @Description("A loop shut down: its duration, and the work that was dropped")
    @StackTrace(false)
    private static final class LoopDrainEvent extends Event {
        @Label("Loop")
        private String loop = "";

        @Label("Graceful")
        private boolean graceful;

        @Label("Abandoned")
        private long abandoned;

        static Object begin(String loop) {
            LoopDrainEvent event = new LoopDrainEvent();
            event.loop = loop;
            event.begin();
            return event;
        }

        static void end(Object begun, ShutdownReport report) {
            LoopDrainEvent event = (LoopDrainEvent) begun;
            event.graceful = report.graceful();
            event.abandoned = report.abandoned();
            event.commit();
        }
    }

    @Name("dev.gyre.ConnectionRefused")
    @Label("Connection Refused")
    @Category("Gyre")
    @Description("A listener closed a connection at once, for a limit or lack of descriptors")
    @StackTrace(false)
    @Throttle("100/s")
    private static final class ConnectionRefusedEvent extends Event {
        @Label("Loop")
        private String loop = "";

        @Label("Listener")
        private String listener = "";

        @Label("Cause")
        private String cause = "";

        static void commit(String loop, String listener, String cause) {
            ConnectionRefusedEvent event = new ConnectionRefusedEvent();
            event.loop = loop;
            event.listener = listener;
            event.cause = cause;
            event.commit();
        }
    }

    @Name("dev.gyre.DescriptorExhaustion")
    @Label("Descriptor Exhaustion")
    @Category("Gyre")
    @Description("Descriptors or kernel memory ran out, or are available again")
    @StackTrace(false)
    private static final class DescriptorExhaustionEvent extends Event {
        @Label("Recovered")
        private boolean recovered;

        @Label("Elapsed")
        @Timespan
        private long elapsed;

        @Label("Connections Shed")
        private long shed;

        @Label("Remedy")
        private String remedy = "";

        static void commit(boolean recovered, long elapsedNanos, long shed, String remedy) {
            DescriptorExhaustionEvent event = new DescriptorExhaustionEvent();
            event.recovered = recovered;
            event.elapsed = elapsedNanos;
            event.shed = shed;
            event.remedy = remedy;
            event.commit();
        }
    }

    @Name("dev.gyre.Connection")
    @Label("Connection")
    @Category("Gyre")
    @Description("A connection was closed: its whole life")
    @StackTrace(false)
    @Throttle("100/s")
    private static final class ConnectionEvent extends Event {
        @Label("Loop")
        private String loop = "";

        @Label("Connection")
        private long id;

        @Label("Peer")
        private String peer = "";

        @Label("Reason")
        private String reason = "";

        @Label("Age")
        @Timespan
        private long age;

        @Label("Received")
        @DataAmount
        private long received;

        @Label("Sent")
        @DataAmount
        private long sent;

        static void commit(
                String loop,
                long id,
                String peer,
                String reason,
                Duration age,
                long received,
                long sent) {
            ConnectionEvent event = new ConnectionEvent();
            if (event.shouldCommit()) {
                event.loop = loop;
                event.id = id;
                event.peer = peer;
                event.reason = reason;
                event.age = age.toNanos();
                event.received = received;
                event.sent = sent;
                event.commit();
            }
        }
    }
}
