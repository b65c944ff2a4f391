package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Example;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Field;

class PriorityLaneTest extends LaneContract {
    @Override
    Lane open() {
        PriorityLane lane = new PriorityLane();
        return new Lane() {
            @Override
            public boolean offer(Runnable task) {
                return lane.offer(task);
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

    /// Also without assertions, and whatever has become of a single slot.
    @Example
    @Clause("Q-1")
    void poll_ofTheLastInAChunk_clearsAllOfIt() throws ReflectiveOperationException {
        PriorityLane lane = new PriorityLane();
        for (int i = 0; i < 2 * PriorityLane.CHUNK; i++) {
            lane.offer(() -> {});
        }
        assertThat(lane.poll()).isNotNull();
        @Nullable Object[] chunk = (Object[]) field(field(lane, "reading"), "slots");
        chunk[0] = (Runnable) () -> {}; // As a slot that was taken and not nulled.
        for (int i = 1; i < PriorityLane.CHUNK; i++) {
            assertThat(lane.poll()).isNotNull();
        }
        assertThat(chunk).containsOnlyNulls();
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }
}
