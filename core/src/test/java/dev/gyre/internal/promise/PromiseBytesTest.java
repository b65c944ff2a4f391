package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LoopConfig;
import dev.gyre.Promise.Handler;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;

/// The memory that many promises leave behind, and the size of one promise.
class PromiseBytesTest {
    private static final int ALL = 10_000_000;
    private static final int WARM = 2_000_000;

    /// Promises per tick: with one step each, they fit into the array of recent promises.
    private static final int BATCH = 100;

    /// The allowance for the JVM and the test itself. One retained byte per promise would exceed it
    /// sixteen times.
    private static final long SLACK_BYTES = 512 * 1_024;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Loop loop = Loop.open(LoopConfig.DEFAULT);
    private int made;
    private long handled;

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    /// Returns the memory in use after a collection: the minimum of several, as one may run too
    /// early.
    private static long usedBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    /// One batch per tick.
    private void runUntilMade(int count, Runnable batch) {
        Runnable task =
                new Runnable() {
                    @Override
                    public void run() {
                        batch.run();
                        if (made < count) {
                            loop.submit(this);
                        }
                    }
                };
        loop.submit(task);
        loop.runUntilEmpty();
    }

    private void assertFlat(Runnable batch) {
        runUntilMade(WARM, batch);
        long before = usedBytes();
        runUntilMade(ALL, batch);
        long after = usedBytes();
        assertThat(made).isEqualTo(ALL);
        assertThat(after - before)
                .as("bytes in use after %d promises, more than after %d", ALL, WARM)
                .isLessThan(SLACK_BYTES);
    }

    private Deferred<Integer> make() {
        made++;
        Deferred<Integer> deferred = loop.deferred();
        deferred.promise().then(n -> handled += n);
        return deferred;
    }

    @Test
    @Clause("R-1")
    void promises_settledInTheTickThatMadeThem_leaveNothing() {
        assertFlat(
                () -> {
                    for (int i = 0; i < BATCH; i++) {
                        make().resolve(1);
                    }
                });
        assertThat(handled).isEqualTo(ALL);
        assertThat(loop.metrics().promises() + loop.metrics().promisesScavenged())
                .as("promises that were registered")
                .isZero();
    }

    @Test
    @Clause("R-1")
    void promises_settledATickLater_leaveNothingAndASmallTable() {
        @Nullable Deferred<?>[] last = new @Nullable Deferred<?>[BATCH];
        assertFlat(
                () -> {
                    for (int i = 0; i < BATCH; i++) {
                        settle(last[i]);
                        last[i] = make();
                    }
                });
        assertThat(handled).isEqualTo(ALL - BATCH);
        assertThat(loop.metrics().promises() + loop.metrics().promisesScavenged())
                .as("each promise and its step were registered once")
                .isEqualTo(2L * ALL);
        assertThat(loop.promises().registry.capacity())
                .as("%d promises with a step each are pending at once", BATCH)
                .isLessThanOrEqualTo(4 * 2 * BATCH);
    }

    @SuppressWarnings("unchecked")
    private static void settle(@Nullable Deferred<?> deferred) {
        if (deferred != null) {
            ((Deferred<Integer>) deferred).resolve(1);
        }
    }

    /// 16 for the deferred, 32 for the promise and 40 for the step; more where references take
    /// eight bytes.
    private static final long BYTES_A_PROMISE_WITH_A_STEP = hasShortReferences() ? 88 : 144;

    private static boolean hasShortReferences() {
        HotSpotDiagnosticMXBean flags =
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        return Boolean.parseBoolean(flags.getVMOption("UseCompressedOops").getValue());
    }

    private static final int WINDOW = 100_000;
    private static final int WINDOWS = 50;

    @Test
    @Clause("P-1")
    void promiseAndStep_settledInTheirTick_costThreeObjects() {
        long least = Long.MAX_VALUE;
        Handler<Integer, Integer> handler = n -> n;
        Runnable batch =
                () -> {
                    for (int i = 0; i < BATCH; i++) {
                        made++;
                        Deferred<Integer> deferred = loop.deferred();
                        deferred.promise().then(handler);
                        deferred.resolve(1);
                    }
                };
        for (int window = 0; window < WINDOWS && least > BYTES_A_PROMISE_WITH_A_STEP; window++) {
            made = 0;
            long before = THREADS.getCurrentThreadAllocatedBytes();
            runUntilMade(WINDOW, batch);
            least = Math.min(least, (THREADS.getCurrentThreadAllocatedBytes() - before) / WINDOW);
        }
        assertThat(least)
                .as(
                        "bytes allocated for a deferred, its promise and a step in the best window:"
                            + " has one of them got another field, or is something else allocated?")
                .isLessThanOrEqualTo(BYTES_A_PROMISE_WITH_A_STEP);
    }
}
