package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.internal.loop.ExternalLane.Offer;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;

/// What lanes keep of their chunks, counted in bytes that the producer allocates; and how the
/// priority lane waits.
class LaneMemoryTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Runnable TASK = new Task();
    private static final int CHUNK = ExternalLane.CHUNK;

    /// What the JVM allocates on a thread by itself, in chunks.
    private static final int SLACK = 4;

    private static final class Task implements Runnable {
        @Override
        public void run() {}
    }

    /// Either lane, by its three methods that count here.
    private interface Lane {
        void offer();

        void poll();

        boolean isEmpty();
    }

    private static Lane external(int capacity) {
        ExternalLane lane = new ExternalLane(capacity);
        return new Lane() {
            @Override
            public void offer() {
                if (lane.offer(TASK) != Offer.ACCEPTED) {
                    throw new AssertionError("refused");
                }
            }

            @Override
            public void poll() {
                if (lane.poll() == null) {
                    throw new AssertionError("nothing there");
                }
            }

            @Override
            public boolean isEmpty() {
                return lane.isEmpty();
            }
        };
    }

    private static Lane priority() {
        PriorityLane lane = new PriorityLane();
        return new Lane() {
            @Override
            public void offer() {
                if (!lane.offer(TASK)) {
                    throw new AssertionError("refused");
                }
            }

            @Override
            public void poll() {
                if (lane.poll() == null) {
                    throw new AssertionError("nothing there");
                }
            }

            @Override
            public boolean isEmpty() {
                return lane.isEmpty();
            }
        };
    }

    /// Offers so many chunks of tasks and returns the bytes that took.
    private static long burst(Lane lane, int chunks) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < chunks * CHUNK; i++) {
            lane.offer();
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    private static void drain(Lane lane) {
        while (!lane.isEmpty()) {
            lane.poll();
        }
    }

    /// The chunks that a burst had to allocate, by what it cost a lane that had none.
    private static long allocated(Lane lane, int chunks, double bytesPerChunk) {
        return Math.round(burst(lane, chunks) / bytesPerChunk);
    }

    /// Warms up, so that only chunks are allocated, and returns the size of one.
    private static double bytesPerChunk(Lane fresh) {
        Lane warm = external(1 << 20);
        Lane warmToo = priority();
        for (int i = 0; i < 5; i++) {
            burst(warm, 50);
            drain(warm);
            burst(warmToo, 50);
            drain(warmToo);
        }
        return burst(fresh, 500) / 500.0;
    }

    // ------------------------------------------------------------------ chunks

    @Test
    @Clause("Q-1")
    void externalLane_inSteadyUse_allocatesNoChunk() {
        double size = bytesPerChunk(external(1 << 20));
        assertThat(size).isGreaterThan(CHUNK * 4.0);
        for (int backlog : new int[] {0, 1, CHUNK, 5 * CHUNK + 1}) {
            Lane lane = external(10 * CHUNK);
            for (int i = 0; i < backlog; i++) {
                lane.offer();
            }
            long bytes = 0;
            for (int round = 0; round < 100 * CHUNK; round++) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                lane.offer();
                bytes += THREADS.getCurrentThreadAllocatedBytes() - before;
                lane.poll();
            }
            assertThat(bytes / size).as("chunks, behind %d tasks", backlog).isLessThan(SLACK);
        }
    }

    @Test
    @Clause("Q-1")
    void externalLane_afterABurst_keeps128ChunksForTheNext() {
        double size = bytesPerChunk(external(1 << 20));
        Lane lane = external(1 << 20);
        burst(lane, 500);
        drain(lane);
        assertThat(allocated(lane, 500, size)).isBetween(500L - 128 - SLACK, 500L - 128 + SLACK);
        drain(lane);
        assertThat(allocated(lane, 100, size)).as("a smaller one has enough").isLessThan(SLACK);
    }

    @Test
    @Clause("Q-1")
    void externalLane_ofAFewChunks_keepsAllOfThem() {
        double size = bytesPerChunk(external(1 << 20));
        Lane lane = external(6 * CHUNK);
        burst(lane, 6);
        drain(lane);
        long chunks = 0;
        for (int i = 0; i < 50; i++) {
            chunks += allocated(lane, 6, size);
            drain(lane);
        }
        assertThat(chunks).as("in fifty bursts of six").isLessThan(SLACK);
    }

    @Test
    @Clause("Q-1")
    void priorityLane_afterABurst_keeps16ChunksForTheNext() {
        double size = bytesPerChunk(priority());
        Lane lane = priority();
        for (int i = 0; i < 3; i++) {
            burst(lane, 100); // Emptied chunks come back when the next burst is taken over.
            drain(lane);
        }
        for (int i = 0; i < 10; i++) {
            assertThat(allocated(lane, 100, size)).isEqualTo(100 - 16);
            drain(lane);
        }
        burst(lane, 1); // Few are used, and as many come back as the lane had emptied.
        drain(lane);
        assertThat(allocated(lane, 40, size)).isEqualTo(40 - 16);
    }

    @Test
    @Clause("Q-1")
    void priorityLane_inSteadyUse_allocatesNoChunk() {
        double size = bytesPerChunk(priority());
        Lane lane = priority();
        burst(lane, 8);
        drain(lane);
        burst(lane, 8);
        drain(lane);
        long chunks = 0;
        for (int i = 0; i < 50; i++) {
            chunks += allocated(lane, 8, size);
            drain(lane);
        }
        assertThat(chunks).as("in fifty bursts of eight").isLessThan(SLACK);
    }

    @Test
    @Clause("Q-2")
    void close_ofALaneNeverUsed_refusesAll() {
        ExternalLane external = new ExternalLane(10);
        external.close();
        assertThat(external.offer(TASK)).isEqualTo(Offer.CLOSED);
        assertThat(external.isFinished()).isTrue();
        PriorityLane priority = new PriorityLane();
        priority.close();
        assertThat(priority.offer(TASK)).isFalse();
    }
}
