package dev.gyre.os;

import java.util.Optional;

/// How a process exited.
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
    /// Returns whether the process exited by itself with code 0.
    default boolean isSuccess() {
        return this instanceof Code(int code) && code == 0;
    }

    /// The process exited by itself.
    ///
    /// @param code the exit code, from 0 to 255
    record Code(int code) implements Exit {
        @Override
        public String toString() {
            return "exited with " + code;
        }
    }

    /// A signal terminated the process.
    ///
    /// @param number the number of the signal, which may be a real-time signal
    /// @param dumped whether the kernel wrote a core dump
    record Killed(int number, boolean dumped) implements Exit {
        /// Returns the signal; empty for a real-time signal, which has no name.
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

    /// The process exited with an unknown status. The kernel reports the status only to the parent,
    /// once: the process is not a child of this one, or other code of this process reaped it.
    record Unknown() implements Exit {
        @Override
        public String toString() {
            return "exited with unknown status";
        }
    }
}
