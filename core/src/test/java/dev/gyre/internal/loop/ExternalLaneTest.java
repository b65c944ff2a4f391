package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.loop.ExternalLane.Offer;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicLong;

class ExternalLaneTest extends LaneContract {
    @Override
    Lane open() {
        ExternalLane lane = new ExternalLane(100_000);
        return new Lane() {
            @Override
            public boolean offer(Runnable task) {
                return lane.offer(task) == Offer.ACCEPTED;
            }

            @Override
            public @Nullable Runnable poll() {
                return lane.poll();
            }

            @Override
            public boolean isEmpty() {
                return lane.isEmpty();
            }

            @Override
            public int depth() {
                return lane.depth();
            }

            @Override
            public void close() {
                lane.close();
            }
        };
    }

    @Property(tries = 100)
    @Clause("Q-2")
    void offer_atCapacity_isRefusedUntilOneIsTaken(
            @ForAll @IntRange(min = 1, max = 1_000) int capacity,
            @ForAll @IntRange(max = 3_000) int before) {
        ExternalLane lane = new ExternalLane(capacity);
        // Anywhere in the ring of chunks, and not at its beginning only.
        for (int i = 0; i < before; i++) {
            assertThat(lane.offer(() -> {})).isEqualTo(Offer.ACCEPTED);
            assertThat(lane.poll()).isNotNull();
        }
        for (int i = 0; i < capacity; i++) {
            assertThat(lane.offer(() -> {})).isEqualTo(Offer.ACCEPTED);
        }
        assertThat(lane.offer(() -> {})).isEqualTo(Offer.FULL);
        assertThat(lane.depth()).isEqualTo(capacity);
        assertThat(lane.poll()).isNotNull();
        assertThat(lane.offer(() -> {})).isEqualTo(Offer.ACCEPTED);
        assertThat(lane.offer(() -> {})).isEqualTo(Offer.FULL);
    }

    @Example
    @Clause("Q-1")
    void lane_overManyTurnsOfItsDirectory_staysConsistent() {
        ExternalLane lane = new ExternalLane(256);
        Runnable[] tasks = new Runnable[7];
        for (int i = 0; i < tasks.length; i++) {
            int number = i;
            tasks[i] = () -> assertThat(number).isNotNegative();
        }
        for (int round = 0; round < 20_000; round++) {
            for (Runnable task : tasks) {
                assertThat(lane.offer(task)).isEqualTo(Offer.ACCEPTED);
            }
            for (Runnable task : tasks) {
                assertThat(lane.poll()).isSameAs(task);
            }
        }
        assertThat(lane.poll()).isNull();
    }

    @Example
    @Clause("Q-2")
    void isFinished_afterClose_tellsWhenAllWasTaken() {
        ExternalLane lane = new ExternalLane(10);
        lane.offer(() -> {});
        lane.close();
        assertThat(lane.isFinished()).isFalse();
        assertThat(lane.depth()).isEqualTo(1);
        lane.poll();
        assertThat(lane.isFinished()).isTrue();
        assertThat(lane.offer(() -> {})).isEqualTo(Offer.CLOSED);
        assertThat(lane.depth()).isZero();
    }

    /// Also without assertions, and whatever has become of a single slot.
    @Example
    @Clause("Q-1")
    void poll_ofTheLastInAChunk_clearsAllOfIt() throws ReflectiveOperationException {
        ExternalLane lane = new ExternalLane(1_000);
        for (int i = 0; i < 2 * ExternalLane.CHUNK; i++) {
            lane.offer(() -> {});
        }
        assertThat(lane.poll()).isNotNull();
        @Nullable Object[] chunk = (Object[]) field(lane, "headChunk");
        chunk[0] = (Runnable) () -> {}; // As a slot that was taken and not nulled.
        for (int i = 1; i < ExternalLane.CHUNK; i++) {
            assertThat(lane.poll()).isNotNull();
        }
        assertThat(chunk).filteredOn(Runnable.class::isInstance).isEmpty();
    }

    @Example
    @Clause("V-1")
    void polledStamp_ofOneTaskIn16_isTheTimeOfItsOffer() {
        AtomicLong clock = new AtomicLong();
        ExternalLane lane = new ExternalLane(1_000, clock::get);
        for (int round = 0; round < 100 * ExternalLane.CHUNK; round += 32) {
            for (int i = round; i < round + 32; i++) {
                clock.set(i * 1_000L);
                lane.offer(() -> {});
            }
            for (int i = round; i < round + 32; i++) {
                assertThat(lane.poll()).isNotNull();
                assertThat(lane.isPolledStamped()).isEqualTo(i % 16 == 0);
                if (i % 16 == 0) {
                    assertThat(lane.polledStamp()).isBetween(i * 1_000L - 63, i * 1_000L);
                }
            }
        }
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
