package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;

import java.time.Duration;

/// Loops for tests with other processes, which may fail to do what they should.
final class GuardedLoop {
    private GuardedLoop() {}

    /// A loop whose callbacks' failures fail the test, and which gives up on what never comes. The
    /// guard does not keep it alive.
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
