package dev.gyre.os;

import java.util.Optional;

/// The standard signals of Linux, under their names in the manual and with the numbers they have
/// on x86-64 and aarch64. Which of them a program may take is told at [Signals].
public enum Signal {
    /// The terminal is gone; by custom, a request to read the configuration again.
    SIGHUP(1),
    /// Interrupt, from the keyboard: Ctrl-C.
    SIGINT(2),
    /// Quit, from the keyboard: Ctrl-\. The JVM prints its threads.
    SIGQUIT(3),
    /// An illegal instruction.
    SIGILL(4),
    /// A breakpoint.
    SIGTRAP(5),
    /// The process gave up on itself: `abort`.
    SIGABRT(6),
    /// Access to memory that is mapped but not there.
    SIGBUS(7),
    /// An arithmetic error.
    SIGFPE(8),
    /// Kill. It reaches nobody: the process is over.
    SIGKILL(9),
    /// Whatever the program makes of it.
    SIGUSR1(10),
    /// Access to memory that is not mapped.
    SIGSEGV(11),
    /// Whatever the program makes of it, had the JVM not put it to a use of its own.
    SIGUSR2(12),
    /// A write that nobody is left to read.
    SIGPIPE(13),
    /// The timer of `alarm`.
    SIGALRM(14),
    /// A request to end.
    SIGTERM(15),
    /// Not sent by any kernel today.
    SIGSTKFLT(16),
    /// A child process ended, stopped or went on.
    SIGCHLD(17),
    /// Go on after a stop.
    SIGCONT(18),
    /// Stop. It reaches nobody: the process stands still.
    SIGSTOP(19),
    /// Stop, from the keyboard: Ctrl-Z.
    SIGTSTP(20),
    /// A background process wanted to read from the terminal.
    SIGTTIN(21),
    /// A background process wanted to write to the terminal.
    SIGTTOU(22),
    /// Urgent data on a socket.
    SIGURG(23),
    /// Processor time is used up.
    SIGXCPU(24),
    /// A file would grow over its limit.
    SIGXFSZ(25),
    /// The timer of processor time.
    SIGVTALRM(26),
    /// The timer of profilers.
    SIGPROF(27),
    /// The terminal has another size.
    SIGWINCH(28),
    /// Something can be read or written.
    SIGIO(29),
    /// The power supply fails.
    SIGPWR(30),
    /// A system call that is not allowed.
    SIGSYS(31);

    private static final Signal[] BY_NUMBER = values();

    private final int number;

    Signal(int number) {
        this.number = number;
    }

    /// The signal of that number; empty for 0, which is none, and for real-time signals.
    public static Optional<Signal> of(int number) {
        return number >= 1 && number <= BY_NUMBER.length
                ? Optional.of(BY_NUMBER[number - 1])
                : Optional.empty();
    }

    /// The number, from 1 to 31.
    public int number() {
        return number;
    }
}
