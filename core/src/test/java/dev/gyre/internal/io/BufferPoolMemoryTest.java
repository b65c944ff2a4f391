package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.FaultyMemory;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/// The pool's resident memory: never above its limit, and small after a burst.
class BufferPoolMemoryTest {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final long LIMIT = 8 * MIB;

    /// The idle memory that is never trimmed.
    private static final long KEPT = MIB;

    private final ScriptedBackend backend = new ScriptedBackend();
    private final Loop loop =
            Loop.open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE), backend);
    private final FaultyMemory memory = new FaultyMemory();
    private final BufferPool pool = new BufferPool(loop.operations(), memory, LIMIT);

    @AfterEach
    void closeLoop() {
        pool.close();
        loop.close();
    }

    private void onLoop(Runnable task) {
        loop.submit(task);
        loop.runSome();
    }

    private void secondsPass(int seconds) {
        for (int i = 0; i < seconds * 20; i++) {
            backend.advance(Duration.ofMillis(50).toNanos());
            onLoop(() -> {});
        }
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

    @ParameterizedTest
    @ValueSource(ints = {4 * KIB, 16 * KIB, 64 * KIB, 300 * KIB})
    @Clause("O-8")
    void burst_thatIsOver_isUnmapped(int size) {
        onLoop(() -> takeAll(size).forEach(NativeBuffer::release));
        secondsPass(3);
        assertThat(pool.used()).isZero();
        assertThat(pool.resident()).isLessThanOrEqualTo(KEPT);
        assertThat(memory.mapped()).isLessThanOrEqualTo(KEPT);
    }

    @ParameterizedTest
    @ValueSource(ints = {4 * KIB, 16 * KIB, 64 * KIB})
    @Clause("O-8")
    void burst_thatIsOverButForOnePartOfEachSlab_leavesOnlyTheseResident(int size) {
        List<NativeBuffer> pinned = new ArrayList<>();
        onLoop(
                () -> {
                    List<NativeBuffer> all = takeAll(size);
                    for (int i = 0; i < all.size(); i++) {
                        if (i % (MIB / size) == 0) {
                            pinned.add(all.get(i));
                        } else {
                            all.get(i).release();
                        }
                    }
                });
        pinned.forEach(each -> each.putInt(42));
        secondsPass(3);
        assertThat(pool.resident()).isLessThanOrEqualTo(pool.used() + KEPT);
        assertThat(memory.discarded()).isGreaterThanOrEqualTo(LIMIT - pool.used() - KEPT);
        assertThat(pinned).allMatch(each -> each.getInt() == 42);
        onLoop(() -> pinned.forEach(NativeBuffer::release));
    }

    @Test
    @Clause("O-8")
    void memoryInUseBetweenTrims_staysMapped() {
        onLoop(() -> takeAll(16 * KIB).forEach(NativeBuffer::release));
        long mapped = memory.mapped();
        for (int i = 0; i < 5; i++) {
            secondsPass(1);
            onLoop(() -> takeAll(16 * KIB).forEach(NativeBuffer::release));
        }
        assertThat(memory.mapped()).as("a burst in every interval").isEqualTo(mapped);
        assertThat(memory.discarded()).isZero();
    }

    @Test
    @Clause("O-8")
    void resident_whateverIsTakenAndReleased_isWithinTheLimit() {
        Random random = new Random(7);
        List<NativeBuffer> out = new ArrayList<>();
        int[] sizes = {100, 4 * KIB, 9 * KIB, 16 * KIB, 50 * KIB, 70 * KIB, 700 * KIB};
        onLoop(
                () -> {
                    for (int i = 0; i < 20_000; i++) {
                        NativeBuffer next =
                                random.nextInt(100) < 55
                                        ? pool.acquire(sizes[random.nextInt(sizes.length)])
                                        : null;
                        if (next != null) {
                            out.add(next);
                        } else if (!out.isEmpty()) {
                            out.remove(random.nextInt(out.size())).release();
                        }
                        assertThat(pool.resident()).isBetween(pool.used(), LIMIT);
                    }
                    out.forEach(NativeBuffer::release);
                });
        secondsPass(3);
        assertThat(pool.resident()).isLessThanOrEqualTo(KEPT);
    }

    // ------------------------------------------------------------------ memory in use

    @Test
    @Clause("O-8")
    void largeBuffer_released_isUnmappedAtOnce_andItsViewsFail() {
        NativeBuffer large = Objects.requireNonNull(pool.acquireForUser(MIB));
        large.put("abc");
        ByteBuffer view = large.asReadable();
        NativeBuffer slice = (NativeBuffer) large.slice(2);
        onLoop(large::release);
        assertThat(memory.mapped()).as("the slice has it").isEqualTo(MIB);
        assertThat(view.get(0)).isEqualTo((byte) 'a');
        onLoop(slice::release);
        assertThat(memory.mapped()).isZero();
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(slice::get).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("O-8")
    void largeBuffer_releasedWhileTheJdkReadsIntoIt_isUnmappedAfterThat() throws Exception {
        NativeBuffer large = Objects.requireNonNull(pool.acquireForUser(MIB));
        ByteBuffer view = large.asWritable();
        Pipe pipe = Pipe.open();
        Thread reader = Thread.ofPlatform().start(() -> read(pipe, view));
        while (Arrays.stream(reader.getStackTrace())
                .noneMatch(f -> f.getMethodName().equals("read0"))) {
            Thread.onSpinWait();
        }
        onLoop(large::release);
        assertThat(memory.mapped()).as("a thread writes there").isEqualTo(MIB);
        pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
        reader.join();
        secondsPass(1);
        assertThat(memory.mapped()).isZero();
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(IllegalStateException.class);
        pipe.sink().close();
        pipe.source().close();
    }

    private static void read(Pipe pipe, ByteBuffer into) {
        try {
            pipe.source().read(into);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Clause("O-8")
    void close_withABufferStillOut_leavesThatOneMapped() {
        NativeBuffer kept = Objects.requireNonNull(pool.acquireForUser(100));
        kept.put("abc");
        onLoop(() -> take(16 * KIB).release());
        assertThat(memory.mapped()).isEqualTo(2 * MIB);
        pool.close();
        assertThat(memory.mapped()).isEqualTo(MIB);
        assertThat(kept.get()).isEqualTo((byte) 'a');
        kept.release();
    }

    // ------------------------------------------------------------------ refused mappings

    @Test
    @Clause("E-3")
    void take_refusedByTheSystem_isNoMemory_andTightUntilTheNextTrim() {
        List<String> relaxed = new ArrayList<>();
        for (int size : new int[] {100, 16 * KIB, 64 * KIB, 300 * KIB}) {
            memory.refuse(1, Long.MAX_VALUE);
            onLoop(
                    () -> {
                        assertThat(pool.acquire(size)).isNull();
                        assertThat(pool.used()).isZero();
                        assertThat(pool.isNearLimit()).isTrue();
                        pool.whenAvailable(() -> relaxed.add("size " + size));
                    });
            assertThat(relaxed).doesNotContain("size " + size);
            memory.refuse(0, 0);
            secondsPass(2);
            assertThat(relaxed).contains("size " + size);
            assertThat(pool.isNearLimit()).isFalse();
            onLoop(() -> take(size).release());
        }
    }

    @Test
    @Clause("E-3")
    void anyOneMapRefused_leavesThePoolConsistent() {
        int[] sizes = {100, 4 * KIB, 9 * KIB, 16 * KIB, 50 * KIB, 70 * KIB, 700 * KIB};
        long asked = Long.MAX_VALUE;
        for (long n = 1; n <= asked; n++) {
            Random random = new Random(11);
            BufferPool one = new BufferPool(loop.operations(), memory, LIMIT);
            long before = memory.mapped();
            memory.refuse(n, n);
            List<NativeBuffer> out = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                NativeBuffer next = one.acquire(sizes[random.nextInt(sizes.length)]);
                if (next != null) {
                    next.putInt(i);
                    out.add(next);
                } else if (!out.isEmpty()) {
                    onLoop(out.remove(random.nextInt(out.size()))::release);
                }
                assertThat(one.resident()).isBetween(one.used(), LIMIT);
            }
            onLoop(() -> out.forEach(NativeBuffer::release));
            assertThat(one.used()).as("map %d refused", n).isZero();
            one.close();
            assertThat(memory.mapped()).as("map %d refused", n).isEqualTo(before);
            asked = Math.min(asked, memory.maps());
        }
        assertThat(asked).isGreaterThan(5);
    }
}
