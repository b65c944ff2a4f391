package dev.gyre.os;

import dev.gyre.EventLoop;

/// A program that prints each line of standard input, then the end. With an argument it sets its
/// terminal to raw mode instead and exits.
final class StandardInputProgram {
    private StandardInputProgram() {}

    @SuppressWarnings("SystemExitOutsideMain")
    public static void main(String[] arguments) {
        if (arguments.length > 0) {
            Terminal.raw();
            System.exit(Terminal.isTerminal(Terminal.Standard.INPUT) ? 0 : 1);
        }
        try (EventLoop loop = EventLoop.open()) {
            StandardInput.lines(
                    loop, line -> System.out.println(line), () -> System.out.println("END"));
            loop.runUntilEmpty();
        }
    }
}
