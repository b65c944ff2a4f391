package dev.gyre.testkit;

import dev.gyre.EventLoop;

import java.time.Duration;

/// A loop with a clock that the test moves, for code that needs timers and promises and no network. A small
/// [SimulatedWorld], with all that holds there.
///
/// ```java
/// try (var test = TestLoop.open()) {
///     var fired = new ArrayList<String>();
///     test.loop().after(Duration.ofHours(1), timer -> fired.add("alarm"));
///     test.advance(Duration.ofMinutes(59));
///     assertThat(fired).isEmpty();
///     test.advance(Duration.ofMinutes(1));
///     assertThat(fired).containsExactly("alarm");
/// }
/// ```
///
/// **Threads.** One thread does everything.
public final class TestLoop implements AutoCloseable {
    private final SimulatedWorld world;

    private TestLoop(SimulatedWorld world) {
        this.world = world;
    }

    /// A new loop.
    public static TestLoop open() {
        return new TestLoop(SimulatedWorld.seed(0));
    }

    /// The loop.
    public EventLoop loop() {
        return world.loop();
    }

    /// Lets time pass, and runs what is due meanwhile. See [SimulatedWorld#advance].
    public void advance(Duration duration) {
        world.advance(duration);
    }

    /// Runs what is to be done now, without waiting for any timer. See [SimulatedWorld#run].
    public void run() {
        world.run();
    }

    /// How much time has passed since it was opened.
    public Duration elapsed() {
        return world.elapsed();
    }

    /// Closes the loop.
    @Override
    public void close() {
        world.close();
    }
}
