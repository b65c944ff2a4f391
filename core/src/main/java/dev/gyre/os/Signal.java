package dev.gyre.os;

import java.util.Optional;

/// The standard signals of Linux, with the numbers they have on x86-64 and aarch64.
public enum Signal {
    /// The terminal is gone.
    SIGHUP(1),
    /// Interrupt from the keyboard.
    SIGINT(2),
    /// Quit from the keyboard.
    SIGQUIT(3),
    /// An illegal instruction.
    SIGILL(4),
    /// A breakpoint.
    SIGTRAP(5),
    /// The program gave up.
    SIGABRT(6),
    /// Memory that is mapped but not there.
    SIGBUS(7),
    /// An arithmetic error.
    SIGFPE(8),
    /// The end, without a word.
    SIGKILL(9),
    /// Whatever the program makes of it.
    SIGUSR1(10),
    /// Memory that is not mapped.
    SIGSEGV(11),
    /// Whatever the program makes of it.
    SIGUSR2(12),
    /// A write that nobody reads.
    SIGPIPE(13),
    /// An alarm clock.
    SIGALRM(14),
    /// A request to end.
    SIGTERM(15),
    /// Unused.
    SIGSTKFLT(16),
    /// A child ended, stopped or went on.
    SIGCHLD(17),
    /// Go on after a stop.
    SIGCONT(18),
    /// Stop, without a word.
    SIGSTOP(19),
    /// Stop from the keyboard.
    SIGTSTP(20),
    /// A background process reads from the terminal.
    SIGTTIN(21),
    /// A background process writes to the terminal.
    SIGTTOU(22),
    /// Urgent data on a socket.
    SIGURG(23),
    /// Processor time is used up.
    SIGXCPU(24),
    /// A file would grow over its limit.
    SIGXFSZ(25),
    /// An alarm clock of processor time.
    SIGVTALRM(26),
    /// An alarm clock of profilers.
    SIGPROF(27),
    /// The terminal has another size.
    SIGWINCH(28),
    /// Something can be read or written.
    SIGIO(29),
    /// The power fails.
    SIGPWR(30),
    /// A system call that is not allowed.
    SIGSYS(31);

    private final int number;

    Signal(int number) {
        this.number = number;
    }

    /// The signal of that number; empty for any other, as for a real-time signal.
    public static Optional<Signal> of(int number) {
        for (Signal signal : values()) {
            if (signal.number == number) {
                return Optional.of(signal);
            }
        }
        return Optional.empty();
    }

    /// The number, from 1 to 31.
    public int number() {
        return number;
    }
}
