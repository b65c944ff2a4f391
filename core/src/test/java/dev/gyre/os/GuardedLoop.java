package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;

import java.time.Duration;

/// Loops with a timeout, for tests with other processes.
final class GuardedLoop {
    private GuardedLoop() {}

    /// Opens a loop whose callback failures fail the test, and which times out. The timeout does
    /// not keep it alive.
    static EventLoop open() {
        EventLoop loop =
                EventLoop.open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE));
        guard(loop);
        return loop;
    }

    static void guard(EventLoop loop) {
        loop.after(
                        Duration.ofSeconds(60),
                        timer -> {
                            throw new AssertionError(
                                    "waited a minute for a process or its output: look at what it"
                                            + " does with `ps`");
                        })
                .unreference();
    }
}
