package dev.gyre.internal.os;

import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

/// Signals that the kernel or the JVM keeps for itself.
final class UncatchableSignals {
    /// HotSpot suspends threads with SIGUSR2, or with what this variable says. It accepts numbers
    /// above those of SIGSEGV and SIGBUS, up to the last real-time signal, and warns of any other.
    private static final String SUSPEND_VARIABLE = "_JAVA_SR_SIGNUM";

    private static final int MIN_SUSPEND = 12;
    private static final int MAX_SUSPEND = 64;

    private UncatchableSignals() {}

    /// Throws if nobody can take the signal, whatever way the program is started.
    static void requireCatchable(Signal signal) {
        String reason = reason(signal);
        if (!reason.isEmpty()) {
            throw refusal(signal, reason);
        }
        if (signal.number() == suspendSignal(System.getenv(SUSPEND_VARIABLE))) {
            throw refusal(
                    signal,
                    "the JVM suspends its threads with it; take SIGUSR1 instead, or give the JVM"
                            + " another one by the environment, such as "
                            + SUSPEND_VARIABLE
                            + "=40");
        }
    }

    private static String reason(Signal signal) {
        return switch (signal) {
            case SIGKILL ->
                    "the kernel lets no process catch it; SIGTERM is the one that asks to end";
            case SIGSTOP ->
                    "the kernel lets no process catch it; SIGTSTP is the one that asks to stop";
            case SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS ->
                    "it is for the thread that caused it, which cannot go on before it is dealt"
                        + " with, and the JVM does that to run Java code; see -XX:OnError for what"
                        + " to do when it ends the process";
            case SIGABRT ->
                    "the process raises it to end, and does so whatever a callback wants; see"
                            + " -XX:OnError";
            case SIGPIPE ->
                    "the JVM keeps it away so that a write which nobody reads fails with EPIPE:"
                            + " deal with that";
            case SIGXFSZ ->
                    "the JVM keeps it away so that a write over the limit of a file fails with"
                            + " EFBIG: deal with that";
            default -> "";
        };
    }

    /// Throws if the JVM does not give the signal away. As a descriptor it could be had.
    ///
    /// @param handlersAreCalled false if the JVM was started with -Xrs
    static void requireHandled(Signal signal, boolean handlersAreCalled) {
        String start = "`env --block-signal=" + signal.name().substring(3) + " java -Xrs …`";
        if (!handlersAreCalled) {
            throw refusal(
                    signal,
                    "the JVM was started with -Xrs and tells nobody of signals, and not every"
                            + " thread blocks this one; start it without -Xrs, or as "
                            + start);
        }
        if (signal == Signal.SIGQUIT) {
            throw refusal(
                    signal,
                    "the JVM prints its threads then; take SIGUSR1 instead, or start it as "
                            + start);
        }
    }

    static int suspendSignal(@Nullable String variable) {
        int usual = Signal.SIGUSR2.number();
        if (variable == null) {
            return usual;
        }
        try {
            int number = Integer.parseInt(variable.strip());
            return number >= MIN_SUSPEND && number <= MAX_SUSPEND ? number : usual;
        } catch (NumberFormatException e) {
            return usual;
        }
    }

    private static IllegalArgumentException refusal(Signal signal, String reason) {
        return new IllegalArgumentException(signal + " cannot be taken: " + reason);
    }
}
