package dev.gyre.os;

import dev.gyre.EventLoop;

/// A program to be started with one standard input or another: says each line, then the end. With
/// an argument it makes its terminal raw instead and exits without a word.
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
