package dev.gyre.stress;

import static dev.gyre.stress.IdleTask.IDLE;
import static dev.gyre.stress.Numbered.a;
import static dev.gyre.stress.Numbered.b;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.loop.PriorityLane;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/// [PriorityLane]: producers against each other, against the consumer and against the close.
public final class PriorityLaneStress {
    private static final int CHUNK = 128;

    private PriorityLaneStress() {}

    private static void drain(PriorityLane lane, Transcript transcript) {
        while (transcript.add(lane.poll())) {
            // Until it is empty.
        }
    }

    /// Catches an append outside the lock, and a consumer that takes over a chunk which producers still
    /// append to.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled or overtaken.")
    @State
    public static class TwoProducers {
        private final PriorityLane lane = new PriorityLane();
        private final Transcript transcript = new Transcript();

        @Actor
        public void producer() {
            lane.offer(a(1));
            lane.offer(a(2));
        }

        @Actor
        public void producerAndConsumer() {
            lane.offer(b(1));
            transcript.add(lane.poll());
            lane.offer(b(2));
            transcript.add(lane.poll());
        }

        @Arbiter
        public void rest(L_Result result) {
            drain(lane, transcript);
            result.r1 = transcript.verdict(2, 2);
        }
    }

    /// Catches a chunk that is linked where the consumer no longer looks, and one that the consumer
    /// gives back before it has left it: the lane is one task short of a full chunk.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled or overtaken.")
    @State
    public static class AcrossChunks {
        private static final int EARLIER_TASKS = CHUNK - 1;

        private final PriorityLane lane = new PriorityLane();
        private final Transcript transcript = new Transcript();

        public AcrossChunks() {
            for (int i = 1; i <= EARLIER_TASKS; i++) {
                lane.offer(b(i));
            }
        }

        @Actor
        public void producer() {
            lane.offer(a(1));
            lane.offer(a(2));
            lane.offer(a(3));
        }

        @Actor
        public void producerAndConsumer() {
            lane.offer(b(EARLIER_TASKS + 1));
            drain(lane, transcript);
            lane.offer(b(EARLIER_TASKS + 2));
            drain(lane, transcript);
        }

        @Arbiter
        public void rest(L_Result result) {
            drain(lane, transcript);
            result.r1 = transcript.verdict(3, EARLIER_TASKS + 2);
        }
    }

    /// Catches a spare chunk that is handed out while it is still read, that keeps a task, or that is not
    /// reset: each round gives one back and takes one.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled, overtaken or came back.")
    @State
    public static class Recycled {
        private static final int ROUNDS = 32;

        private final PriorityLane lane = new PriorityLane();
        private final Transcript transcript = new Transcript();

        @Actor
        public void producer() {
            for (int i = 1; i <= ROUNDS; i++) {
                lane.offer(a(i));
            }
        }

        @Actor
        public void producerAndConsumer() {
            for (int i = 1; i <= ROUNDS; i++) {
                lane.offer(b(i));
                drain(lane, transcript);
            }
        }

        @Arbiter
        public void rest(L_Result result) {
            drain(lane, transcript);
            result.r1 = transcript.verdict(ROUNDS, ROUNDS);
        }
    }

    /// Catches a count that is raised before the task is in its place: work that the look promises must be
    /// there.
    @JCStressTest
    @Outcome(id = "empty, nothing", expect = ACCEPTABLE, desc = "The offer came after both looks.")
    @Outcome(id = "empty, task", expect = ACCEPTABLE, desc = "The offer came in between.")
    @Outcome(id = "work, task", expect = ACCEPTABLE, desc = "The offer came before both looks.")
    @Outcome(expect = FORBIDDEN, desc = "The lane promised a task and had none.")
    @State
    public static class LookAndPoll {
        private final PriorityLane lane = new PriorityLane();

        @Actor
        public void producer() {
            lane.offer(IDLE);
        }

        @Actor
        public void consumer(LL_Result result) {
            result.r1 = lane.isEmpty() ? "empty" : "work";
            result.r2 = lane.poll() == null ? "nothing" : "task";
        }
    }

    /// Catches a close that is checked apart from the append: what was accepted must be there when the
    /// close returns, and nothing may come later.
    @JCStressTest
    @Outcome(id = "true, true, 2", expect = ACCEPTABLE, desc = "Both came before the close.")
    @Outcome(id = "true, false, 1", expect = ACCEPTABLE, desc = "The close came in between.")
    @Outcome(id = "false, false, 0", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "What was taken was not drained, or the other way round.")
    @State
    public static class OfferAgainstClose {
        private final PriorityLane lane = new PriorityLane();
        private final Transcript transcript = new Transcript();

        @Actor
        public void producer(LLL_Result result) {
            result.r1 = lane.offer(a(1));
            result.r2 = lane.offer(a(2));
        }

        @Actor
        public void closer(LLL_Result result) {
            lane.close();
            drain(lane, transcript);
            result.r3 = transcript.size();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            if (!lane.isEmpty() || lane.poll() != null || lane.offer(IDLE)) {
                result.r3 = "not over after the end";
            }
        }
    }

    /// Catches a close that toggles instead of setting.
    @JCStressTest
    @Outcome(id = "1, false", expect = ACCEPTABLE, desc = "Closed, and what was taken is there.")
    @Outcome(expect = FORBIDDEN, desc = "Open again, or the task is gone.")
    @State
    public static class TwoCloses {
        private final PriorityLane lane = new PriorityLane();

        public TwoCloses() {
            lane.offer(a(1));
        }

        @Actor
        public void first() {
            lane.close();
        }

        @Actor
        public void second() {
            lane.close();
        }

        @Arbiter
        public void rest(LL_Result result) {
            Transcript transcript = new Transcript();
            drain(lane, transcript);
            result.r1 = transcript.size();
            result.r2 = lane.offer(a(2));
        }
    }
}
