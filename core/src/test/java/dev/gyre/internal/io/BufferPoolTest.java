package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Buffer;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

class BufferPoolTest {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;

    /// Failed assertions in callbacks end the run.
    private static final LoopConfig CONFIG =
            LoopConfig.DEFAULT.withBufferMemory(MIB).withFailurePolicy(FailurePolicy.PROPAGATE);

    /// One test leaks on purpose.
    private static final LoopObserver UNMOVED =
            new LoopObserver() {
                @Override
                public void onBufferLeak(EventLoop loop, Throwable takenAt) {}
            };

    private final Loop loop = Loop.open(CONFIG.withObserver(UNMOVED), new ScriptedBackend());
    private final BufferPool pool = loop.operations().pool();

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    /// Runs a task in one tick.
    private void onLoop(Runnable task) {
        loop.submit(task);
        loop.runSome();
    }

    private NativeBuffer take(int atLeast) {
        return Objects.requireNonNull(pool.acquire(atLeast), "the pool has nothing left");
    }

    private List<NativeBuffer> takeAll(int atLeast) {
        List<NativeBuffer> taken = new ArrayList<>();
        for (NativeBuffer next = pool.acquire(atLeast);
                next != null;
                next = pool.acquire(atLeast)) {
            taken.add(next);
        }
        return taken;
    }

    @Test
    @Clause("O-8")
    void take_roundsUpToTheNextSize_andCountsThat() {
        onLoop(
                () -> {
                    assertThat(take(1).capacity()).isEqualTo(4 * KIB);
                    assertThat(take(4 * KIB).capacity()).isEqualTo(4 * KIB);
                    assertThat(take(4 * KIB + 1).capacity()).isEqualTo(16 * KIB);
                    assertThat(take(64 * KIB).capacity()).isEqualTo(64 * KIB);
                    assertThat(take(64 * KIB + 1).capacity()).isEqualTo(68 * KIB);
                });
        long expected = (4 + 4 + 16 + 64 + 68) * KIB;
        assertThat(pool.used()).isEqualTo(expected);
        assertThat(loop.metrics().bufferMemory()).isEqualTo(expected);
    }

    @Test
    @Clause("O-8")
    void take_beyondTheLimit_isDeclinedUntilSomethingComesBack() {
        onLoop(
                () -> {
                    List<NativeBuffer> all = takeAll(16 * KIB);
                    assertThat(all).hasSize(64);
                    assertThat(pool.used()).isEqualTo(MIB);
                    assertThat(pool.acquire(1)).isNull();
                    assertThat(Buffer.tryAcquire(loop, 1)).isNull();
                    assertThatThrownBy(() -> Buffer.acquire(loop, 100_000))
                            .isInstanceOf(LoopOverloadedException.class)
                            .hasMessageContaining("no buffer of 100000 bytes")
                            .hasMessageContaining("1048576 of 1048576")
                            .hasMessageContaining("raise LoopConfig.bufferMemory");
                    all.removeLast().release();
                    assertThat(pool.acquire(16 * KIB)).isNotNull();
                });
    }

    @Test
    @Clause("O-8")
    void take_ofAnotherSize_isNotKeptFromMemoryThatAnEarlierOneHad() {
        onLoop(
                () -> {
                    for (int size : new int[] {4 * KIB, 64 * KIB, 16 * KIB, 4 * KIB}) {
                        List<NativeBuffer> all = takeAll(size);
                        assertThat(all).as("buffers of %d bytes", size).hasSize(MIB / size);
                        all.forEach(NativeBuffer::release);
                    }
                });
        assertThat(pool.used()).isZero();
        assertThat(pool.reserved()).as("slabs that are free are dropped").isEqualTo(MIB);
    }

    @Test
    @Clause("O-8")
    void release_onTheLoopThread_givesTheSameViewOutAgain() {
        onLoop(
                () -> {
                    NativeBuffer first = take(10);
                    first.put((byte) 1);
                    first.release();
                    assertThatThrownBy(first::readable)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessage("the buffer belongs to the loop again: it was released");
                    assertThatThrownBy(first::release).isInstanceOf(IllegalStateException.class);
                    NativeBuffer second = take(10);
                    assertThat(second).isSameAs(first);
                    assertThat(second.readable()).isZero();
                    assertThat(second.writable()).isEqualTo(4 * KIB);
                });
    }

    @Test
    @Clause("O-8")
    void release_byAUser_leavesNothingThatCouldBeMistaken() {
        onLoop(
                () -> {
                    Buffer first = Buffer.acquire(loop, 10);
                    first.release();
                    Buffer second = Buffer.acquire(loop, 10).put((byte) 1);
                    assertThatThrownBy(first::get).isInstanceOf(IllegalStateException.class);
                    assertThatThrownBy(first::release).isInstanceOf(IllegalStateException.class);
                    assertThat(first.isInFlight()).isFalse();
                    assertThat(second.get()).isEqualTo((byte) 1);
                    second.release();
                });
        assertThat(pool.used()).isZero();
    }

    @Test
    @Clause("O-8")
    void release_onAnotherThread_comesBackWithinATurn() {
        Buffer taken = Buffer.acquire(loop, 10);
        CompletableFuture.runAsync(taken::release).join();
        onLoop(() -> {});
        assertThat(pool.used()).isZero();
    }

    @Test
    @Clause("O-8")
    void release_afterTheLoopsEnd_isNoMistake() {
        Buffer taken = Buffer.acquire(loop, 10);
        loop.close();
        taken.release();
        assertThatThrownBy(() -> Buffer.acquire(loop, 10))
                .isInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause("L-9")
    void take_onAnotherThread_isRefusedWhileTheLoopRuns() {
        Throwable[] thrown = {null};
        onLoop(
                () ->
                        thrown[0] =
                                CompletableFuture.supplyAsync(() -> Buffer.acquire(loop, 1))
                                        .handle((buffer, failure) -> failure.getCause())
                                        .join());
        assertThat(thrown[0])
                .isInstanceOf(WrongThreadException.class)
                .hasMessageContaining("Buffer.acquire");
    }

    @Test
    void take_ofAnImpossibleSize_isRefusedWithTheValue() {
        for (int wrong : new int[] {0, -1, (1 << 30) + 1}) {
            assertThatThrownBy(() -> Buffer.acquire(loop, wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("but is " + wrong);
        }
        assertThatThrownBy(() -> LoopConfig.DEFAULT.withBufferMemory(MIB - 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("but is 1048575");
        assertThat(LoopConfig.DEFAULT.bufferMemory()).isEqualTo(256L * MIB);
    }

    // ------------------------------------------------------------------ near the limit

    @Test
    void whenRelaxed_whileTight_isCalledOnceWhenEnoughCameBack() {
        List<String> log = new ArrayList<>();
        List<NativeBuffer> all = new ArrayList<>();
        onLoop(
                () -> {
                    all.addAll(takeAll(64 * KIB));
                    assertThat(pool.isNearLimit()).isTrue();
                    pool.whenAvailable(() -> log.add("first"));
                    pool.whenAvailable(
                            () -> {
                                log.add("second");
                                pool.whenAvailable(() -> log.add("again"));
                            });
                });
        onLoop(() -> all.subList(0, 3).forEach(NativeBuffer::release));
        assertThat(log).as("13 of 16 are out").isEmpty();
        onLoop(() -> all.get(3).release());
        assertThat(pool.isNearLimit()).as("12 of 16 are out").isFalse();
        assertThat(log).containsExactly("first", "second");
        onLoop(() -> all.get(4).release());
        assertThat(log).containsExactly("first", "second", "again");
    }

    @Test
    void whenRelaxed_withAWaiterThatThrows_callsTheOthersToo() {
        List<String> log = new ArrayList<>();
        pool.whenAvailable(
                () -> {
                    throw new IllegalStateException("as it happens");
                });
        pool.whenAvailable(() -> log.add("second"));
        assertThatThrownBy(() -> onLoop(() -> {})).hasMessage("as it happens");
        onLoop(() -> {});
        assertThat(log).containsExactly("second");
    }

    @Test
    void whenRelaxed_whileOneOfThemTakesItAll_keepsTheOthersWaiting() {
        List<String> log = new ArrayList<>();
        List<NativeBuffer> all = new ArrayList<>();
        onLoop(
                () -> {
                    pool.whenAvailable(() -> all.addAll(takeAll(64 * KIB)));
                    pool.whenAvailable(() -> log.add("second"));
                });
        onLoop(() -> {});
        assertThat(all).hasSize(16);
        assertThat(log).isEmpty();
        onLoop(() -> all.forEach(NativeBuffer::release));
        onLoop(() -> {});
        assertThat(log).containsExactly("second");
    }

    @Test
    void release_whileTheLoopReleasesWhatItOwns_callsNobody() {
        List<String> log = new ArrayList<>();
        onLoop(
                () -> {
                    List<NativeBuffer> all = takeAll(64 * KIB);
                    pool.whenAvailable(() -> log.add("too late"));
                    loop.own(() -> all.forEach(NativeBuffer::release));
                    loop.close();
                });
        assertThat(log).isEmpty();
    }

    // ------------------------------------------------------------------ allocation

    @Test
    @Clause("O-8")
    void takeAndRelease_inSteadyState_allocateNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] least = {Long.MAX_VALUE};
        onLoop(
                () -> {
                    for (int window = 0; window < 100 && least[0] > KIB; window++) {
                        long before = threads.getCurrentThreadAllocatedBytes();
                        for (int i = 0; i < 10_000; i++) {
                            NativeBuffer small = take(100);
                            NativeBuffer large = take(60_000);
                            small.putInt(i);
                            small.release();
                            large.release();
                        }
                        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                        least[0] = Math.min(least[0], allocated);
                    }
                });
        assertThat(least[0])
                .as("bytes allocated by 20 000 buffers taken and released, in the best window")
                .isLessThanOrEqualTo(KIB);
    }
}
