package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

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
}
