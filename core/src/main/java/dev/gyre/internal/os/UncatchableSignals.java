package dev.gyre.internal.os;

import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

/// Rejects signals that the kernel or the JVM reserves.
final class UncatchableSignals {
    /// HotSpot suspends threads with SIGUSR2, or with the signal of this variable. It accepts
    /// numbers above those of SIGSEGV and SIGBUS, up to the last real-time signal, and ignores any
    /// other with a warning.
    private static final String SUSPEND_VARIABLE = "_JAVA_SR_SIGNUM";

    private static final int MIN_SUSPEND = 12;
    private static final int MAX_SUSPEND = 64;

    private UncatchableSignals() {}

    /// Throws if the signal cannot be caught, however the JVM is started.
    static void requireCatchable(Signal signal) {
        String reason = reason(signal);
        if (!reason.isEmpty()) {
            throw refusal(signal, reason);
        }
        if (signal.number() == suspendSignal(System.getenv(SUSPEND_VARIABLE))) {
            throw refusal(
                    signal,
                    "the JVM suspends its threads with it; use SIGUSR1 instead, or give the JVM"
                            + " another signal through the environment, such as "
                            + SUSPEND_VARIABLE
                            + "=40");
        }
    }

    private static String reason(Signal signal) {
        return switch (signal) {
            case SIGKILL ->
                    "the kernel lets no process catch it; use SIGTERM, the request to terminate";
            case SIGSTOP -> "the kernel lets no process catch it; use SIGTSTP, the request to stop";
            case SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS ->
                    "it reports a fault of one thread, which the JVM handles itself; use"
                            + " -XX:OnError to act when it ends the process";
            case SIGABRT ->
                    "the process raises it to terminate, regardless of a callback; use -XX:OnError";
            case SIGPIPE ->
                    "the JVM ignores it, so a write to a closed pipe or socket fails with EPIPE:"
                            + " handle that failure";
            case SIGXFSZ ->
                    "the JVM ignores it, so a write beyond the file size limit fails with EFBIG:"
                            + " handle that failure";
            default -> "";
        };
    }

    /// Throws if the JVM's handler cannot deliver the signal, although a signalfd could.
    ///
    /// @param areHandlersCalled false if the JVM was started with -Xrs
    static void requireHandled(Signal signal, boolean areHandlersCalled) {
        String start = "`env --block-signal=" + signal.name().substring(3) + " java -Xrs …`";
        if (!areHandlersCalled) {
            throw refusal(
                    signal,
                    "the JVM was started with -Xrs and calls no handlers, and not every thread"
                            + " blocks this signal; start it without -Xrs, or as "
                            + start);
        }
        if (signal == Signal.SIGQUIT) {
            throw refusal(
                    signal,
                    "the JVM prints its threads then; use SIGUSR1 instead, or start it as "
                            + start);
        }
    }

    static int suspendSignal(@Nullable String variable) {
        int defaultSignal = Signal.SIGUSR2.number();
        if (variable == null) {
            return defaultSignal;
        }
        try {
            int number = Integer.parseInt(variable.strip());
            return number >= MIN_SUSPEND && number <= MAX_SUSPEND ? number : defaultSignal;
        } catch (NumberFormatException e) {
            return defaultSignal;
        }
    }

    private static IllegalArgumentException refusal(Signal signal, String reason) {
        return new IllegalArgumentException(signal + " cannot be caught: " + reason);
    }
}
