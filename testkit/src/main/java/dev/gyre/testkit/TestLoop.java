package dev.gyre.testkit;

import dev.gyre.EventLoop;

import java.time.Duration;

/// A loop whose clock the test advances, for code that needs timers and promises but no network. A
/// small [SimulatedWorld].
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
/// **Threads.** One at a time.
public final class TestLoop implements AutoCloseable {
    private final SimulatedWorld world;

    private TestLoop(SimulatedWorld world) {
        this.world = world;
    }

    /// Opens a loop.
    public static TestLoop open() {
        return new TestLoop(SimulatedWorld.seed(0));
    }

    /// Returns the loop.
    public EventLoop loop() {
        return world.loop();
    }

    /// Advances time and runs everything due until then. See [SimulatedWorld#advance].
    public void advance(Duration duration) {
        world.advance(duration);
    }

    /// Runs everything due now, without waiting for timers. See [SimulatedWorld#run].
    public void run() {
        world.run();
    }

    /// Returns the simulated time since the loop was opened.
    public Duration elapsed() {
        return world.elapsed();
    }

    /// Closes the loop.
    @Override
    public void close() {
        world.close();
    }
}
