package dev.gyre.os;

import java.util.Optional;

/// How a process ended.
///
/// ```java
/// switch (exit) {
///     case Exit.Code(int code) -> IO.println("code " + code);
///     case Exit.Killed killed -> IO.println("signal " + killed.number());
///     case Exit.Unknown() -> IO.println("gone");
/// }
/// ```
///
/// Immutable. Its text is for people: `exited with 0`, `killed by SIGKILL`.
public sealed interface Exit {
    /// Whether it ended by itself, with code 0.
    default boolean isSuccess() {
        return this instanceof Code(int code) && code == 0;
    }

    /// It ended by itself.
    ///
    /// @param code its exit code, from 0 to 255
    record Code(int code) implements Exit {
        @Override
        public String toString() {
            return "exited with " + code;
        }
    }

    /// A signal ended it.
    ///
    /// @param number the signal's number, which may be that of a real-time signal
    /// @param dumped whether the kernel wrote a core dump
    record Killed(int number, boolean dumped) implements Exit {
        /// The signal; empty if it was a real-time signal, which has no name.
        public Optional<Signal> signal() {
            return Signal.of(number);
        }

        @Override
        public String toString() {
            return "killed by "
                    + signal().map(Signal::name).orElse("signal " + number)
                    + (dumped ? ", core dumped" : "");
        }
    }

    /// It ended, and the kernel tells only its parent how: it is not a child of this process, or
    /// something else in this process was told first.
    record Unknown() implements Exit {
        @Override
        public String toString() {
            return "ended, nobody knows how";
        }
    }
}
