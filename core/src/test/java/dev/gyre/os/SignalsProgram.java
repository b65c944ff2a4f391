package dev.gyre.os;

import dev.gyre.EventLoop;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/// A program that catches signals, for tests that start a JVM in a particular way. It prints the
/// subscription and each signal, and exits after the expected number.
final class SignalsProgram {
    private SignalsProgram() {}

    public static void main(String[] names) {
        List<Signal> signals = Arrays.stream(names).map(Signal::valueOf).toList();
        try (EventLoop loop = EventLoop.open()) {
            int[] left = {signals.size()};
            Signals taken;
            try {
                taken =
                        Signals.on(
                                loop,
                                signals,
                                signal -> {
                                    IO.println("heard " + signal);
                                    if (--left[0] == 0) {
                                        loop.stop();
                                    }
                                });
            } catch (IllegalArgumentException e) {
                IO.println(e.getMessage());
                return;
            }
            loop.after(
                    Duration.ofSeconds(30),
                    timer -> {
                        IO.println("nothing came within 30 s");
                        loop.stop();
                    });
            // Only once the loop runs, so that a signal arrives while it waits or is about to.
            loop.submit(
                    () -> {
                        left[0] -= taken.ignored().size();
                        IO.println(taken);
                    });
            loop.run();
        }
    }
}
