package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.Watcher;
import dev.gyre.io.Descriptor;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// A loop in a [World], a log of what its callbacks did, and what the contracts do with both.
abstract class ConformanceFixture {
    final List<String> log = new ArrayList<>();
    private final List<Descriptor> opened = new ArrayList<>();
    EventLoop loop;

    protected abstract World world();

    /// A wait that nothing ends fails the test soon instead of after five minutes. What is done on purpose
    /// here is not logged.
    static LoopConfig config() {
        return LoopConfig.DEFAULT
                .withName("conformant")
                .withMaxWait(Duration.ofSeconds(10))
                .withObserver(new LoopObserver() {});
    }

    @BeforeEach
    void openLoop() {
        loop = world().open(config());
    }

    @AfterEach
    void closeAll() {
        loop.close();
        opened.forEach(Descriptor::close);
    }

    /// Takes another loop in place of the one that every test begins with.
    final void configure(LoopConfig config) {
        loop.close();
        loop = world().open(config);
    }

    final Runnable says(String word) {
        return () -> log.add(word);
    }

    final Consumer<Watcher> notes(String word) {
        return watcher -> log.add(word);
    }

    final List<Descriptor> pair() {
        List<Descriptor> pair = world().pair(loop);
        opened.addAll(pair);
        return pair;
    }

    /// Two sockets, the first with a byte to read.
    final List<Descriptor> readyPair() {
        List<Descriptor> pair = pair();
        send(pair.get(1));
        return pair;
    }

    /// Sends a byte.
    static void send(Descriptor from) {
        assertThat(from.write(ByteBuffer.wrap(new byte[] {'x'}))).isEqualTo(1);
    }

    /// What can be read at once; `end` at the end.
    static String receive(Descriptor at) {
        ByteBuffer bytes = ByteBuffer.allocate(64);
        return at.read(bytes) == Descriptor.END
                ? "end"
                : new String(bytes.array(), 0, bytes.position(), US_ASCII);
    }

    /// Runs what is ready, without waiting.
    final void runReady() {
        loop.runFor(Duration.ZERO);
    }

    /// Lets another thread run the loop, and returns when it sleeps.
    final Thread runAndSleep() {
        assumeTrue(world().sleeps(), "nobody sleeps in simulated time");
        Thread runner = Thread.ofPlatform().name("runner").start(loop::run);
        awaitSleep();
        return runner;
    }

    final void awaitSleep() {
        while (loop.state() != LoopState.SLEEPING) {
            Thread.onSpinWait();
        }
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
