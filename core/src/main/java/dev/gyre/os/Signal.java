package dev.gyre.os;

import java.util.Optional;

/// The standard signals of Linux, with their names in the manual and their numbers on x86-64 and
/// aarch64. [Signals] lists those that a program can catch.
public enum Signal {
    /// The terminal was closed; by convention, a request to reload the configuration.
    SIGHUP(1),
    /// Interrupt, from the keyboard: Ctrl-C.
    SIGINT(2),
    /// Quit, from the keyboard: Ctrl-\. The JVM prints its threads.
    SIGQUIT(3),
    /// An illegal instruction.
    SIGILL(4),
    /// A breakpoint.
    SIGTRAP(5),
    /// The process called `abort`.
    SIGABRT(6),
    /// Access to mapped memory without a page behind it.
    SIGBUS(7),
    /// An arithmetic error.
    SIGFPE(8),
    /// Kills the process; it cannot be caught.
    SIGKILL(9),
    /// Defined by the program.
    SIGUSR1(10),
    /// Access to memory that is not mapped.
    SIGSEGV(11),
    /// Defined by the program; the JVM uses it to suspend threads.
    SIGUSR2(12),
    /// A write to a pipe or socket without a reader.
    SIGPIPE(13),
    /// The timer of `alarm`.
    SIGALRM(14),
    /// A request to terminate.
    SIGTERM(15),
    /// Unused by current kernels.
    SIGSTKFLT(16),
    /// A child process exited, stopped or continued.
    SIGCHLD(17),
    /// Continue after a stop.
    SIGCONT(18),
    /// Stops the process; it cannot be caught.
    SIGSTOP(19),
    /// Stop, from the keyboard: Ctrl-Z.
    SIGTSTP(20),
    /// A background process tried to read from the terminal.
    SIGTTIN(21),
    /// A background process tried to write to the terminal.
    SIGTTOU(22),
    /// Urgent data on a socket.
    SIGURG(23),
    /// The CPU time limit is exceeded.
    SIGXCPU(24),
    /// The file size limit is exceeded.
    SIGXFSZ(25),
    /// The timer of CPU time.
    SIGVTALRM(26),
    /// The timer of profilers.
    SIGPROF(27),
    /// The size of the terminal changed.
    SIGWINCH(28),
    /// A descriptor is ready for I/O.
    SIGIO(29),
    /// The power supply fails.
    SIGPWR(30),
    /// A forbidden system call.
    SIGSYS(31);

    private static final Signal[] BY_NUMBER = values();

    private final int number;

    Signal(int number) {
        this.number = number;
    }

    /// Returns the signal of a number; empty for 0 and for real-time signals.
    public static Optional<Signal> of(int number) {
        return number >= 1 && number <= BY_NUMBER.length
                ? Optional.of(BY_NUMBER[number - 1])
                : Optional.empty();
    }

    /// Returns the number, from 1 to 31.
    public int number() {
        return number;
    }
}
