package dev.gyre.stress;

import static dev.gyre.stress.IdleTask.IDLE;
import static dev.gyre.stress.Numbered.a;
import static dev.gyre.stress.Numbered.b;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.loop.ExternalLane;
import dev.gyre.internal.loop.ExternalLane.Offer;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

import java.util.Arrays;

/// [ExternalLane]: producers against each other, against the consumer and against the close.
public final class ExternalLaneStress {
    private static final int CHUNK = 128;

    private ExternalLaneStress() {}

    /// A lane whose next ticket is the given one, and nothing waits.
    private static ExternalLane laneAt(int ticket, int capacity) {
        ExternalLane lane = new ExternalLane(capacity);
        for (int i = 0; i < ticket; i++) {
            lane.offer(IDLE);
            lane.poll();
        }
        return lane;
    }

    private static void drain(ExternalLane lane, Transcript transcript) {
        while (transcript.add(lane.poll())) {
            // Until it is empty.
        }
    }

    /// Catches a ticket handed out twice (tail advanced by load and store), a consumer that passes
    /// over a claimed slot which is not filled yet, and a slot filled with less than release.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled or overtaken.")
    @State
    public static class TwoProducers {
        private final ExternalLane lane = new ExternalLane(1_024);
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

    /// Catches a chunk that two producers install over each other, and a chunk that the consumer
    /// recycles under a producer that is about to fill it.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled or overtaken.")
    @State
    public static class AcrossChunks {
        private final ExternalLane lane = laneAt(CHUNK - 1, 1_024);
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

    /// Catches a producer that was held up between its look for the chunk and its claim, and then
    /// fills a slot of a chunk that has moved on, and a chunk that is recycled with a task in it.
    /// Nearly empty, so that head and tail share their chunk; the directory has four places, and is
    /// gone round.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled, overtaken or came back.")
    @State
    public static class Recycled {
        private static final int ROUNDS = 4 * CHUNK + 2;

        private final ExternalLane lane = new ExternalLane(2 * CHUNK);
        private final Transcript transcript = new Transcript();

        // One actor each, then the arbiter: how many were taken. A producer that is held up at its
        // claimed slot lets the lane run full.
        private int fromA;
        private int fromB;

        @Actor
        public void producer() {
            for (int i = 0; i < 8; i++) {
                if (lane.offer(a(fromA + 1)) == Offer.ACCEPTED) {
                    fromA++;
                }
            }
        }

        @Actor
        public void producerAndConsumer() {
            for (int i = 0; i < ROUNDS; i++) {
                if (lane.offer(b(fromB + 1)) == Offer.ACCEPTED) {
                    fromB++;
                }
                transcript.add(lane.poll());
            }
        }

        @Arbiter
        public void rest(L_Result result) {
            drain(lane, transcript);
            result.r1 = transcript.verdict(fromA, fromB);
        }
    }

    /// Catches a place of the directory that means two chunks: a directory too small for the
    /// capacity, and an emptied chunk that stays in its old place too. The same with a lane that is
    /// nearly full, so that head and tail are farthest apart.
    @JCStressTest
    @Outcome(id = Transcript.IN_ORDER, expect = ACCEPTABLE, desc = "The lane's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A task was lost, doubled, overtaken or came back.")
    @State
    public static class RecycledWhenFull {
        private static final int ROUNDS = 4 * CHUNK + 2;
        private static final Numbered[] EARLIER = new Numbered[2 * CHUNK - 4];

        static {
            Arrays.setAll(EARLIER, i -> b(i + 1));
        }

        private final ExternalLane lane = new ExternalLane(2 * CHUNK);
        private final Transcript transcript = new Transcript();

        // One actor each, then the arbiter: how many were taken.
        private int fromA;
        private int fromB = EARLIER.length;

        public RecycledWhenFull() {
            for (Numbered task : EARLIER) {
                lane.offer(task);
            }
        }

        @Actor
        public void producer() {
            for (int i = 0; i < 8; i++) {
                if (lane.offer(a(fromA + 1)) == Offer.ACCEPTED) {
                    fromA++;
                }
            }
        }

        @Actor
        public void producerAndConsumer() {
            for (int i = 0; i < ROUNDS; i++) {
                if (lane.offer(b(fromB + 1)) == Offer.ACCEPTED) {
                    fromB++;
                }
                transcript.add(lane.poll());
            }
        }

        @Arbiter
        public void rest(L_Result result) {
            drain(lane, transcript);
            result.r1 = transcript.verdict(fromA, fromB);
        }
    }

    /// Catches a look before sleeping that is fooled by an old chunk: work it promises must be
    /// there. At the boundary of two chunks, so that directory and slot both decide.
    @JCStressTest
    @Outcome(id = "empty, nothing", expect = ACCEPTABLE, desc = "The offer came after both looks.")
    @Outcome(id = "empty, task", expect = ACCEPTABLE, desc = "The offer came in between.")
    @Outcome(id = "work, task", expect = ACCEPTABLE, desc = "The offer came before both looks.")
    @Outcome(expect = FORBIDDEN, desc = "The lane promised a task and had none.")
    @State
    public static class LookAndPoll {
        private final ExternalLane lane = laneAt(CHUNK, 1_024);

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

    /// Catches a close that is not decided in the word that hands out tickets: an offer that slips
    /// in after the drain has ended, and one that is refused but leaves a task or a hole. At the
    /// boundary of two chunks, so that the drain also waits for a chunk to be installed.
    @JCStressTest
    @Outcome(
            id = "ACCEPTED, ACCEPTED, 2",
            expect = ACCEPTABLE,
            desc = "Both came before the close.")
    @Outcome(id = "ACCEPTED, CLOSED, 1", expect = ACCEPTABLE, desc = "The close came in between.")
    @Outcome(id = "CLOSED, CLOSED, 0", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "What was taken was not drained, or the other way round.")
    @State
    public static class OfferAgainstClose {
        private final ExternalLane lane = laneAt(CHUNK - 1, 1_024);
        private final Transcript transcript = new Transcript();

        @Actor
        public void producer(LLL_Result result) {
            result.r1 = lane.offer(a(1));
            result.r2 = lane.offer(a(2));
        }

        @Actor
        public void closer(LLL_Result result) {
            lane.close();
            SpinTimeout timeout = new SpinTimeout();
            while (!lane.isFinished()) {
                if (!transcript.add(lane.poll()) && timeout.isOver()) {
                    result.r3 = "waited for ever";
                    return;
                }
            }
            result.r3 = transcript.size();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            if (lane.poll() != null || lane.offer(IDLE) != Offer.CLOSED || !lane.isFinished()) {
                result.r3 = "not over after the end";
            }
        }
    }

    /// Catches a close that toggles instead of setting, and one that is lost to the other's
    /// exchange.
    @JCStressTest
    @Outcome(id = "1, CLOSED", expect = ACCEPTABLE, desc = "Closed, and what was taken is there.")
    @Outcome(expect = FORBIDDEN, desc = "Open again, or the task is gone.")
    @State
    public static class TwoCloses {
        private final ExternalLane lane = new ExternalLane(1_024);

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
            result.r1 = lane.isFinished() ? transcript.size() : "unfinished";
            result.r2 = lane.offer(a(2));
        }
    }

    /// Catches a limit that is raised before the consumer has let go, and one that is never raised:
    /// a full lane that stays full.
    @JCStressTest
    @Outcome(id = "FULL, task, nothing", expect = ACCEPTABLE, desc = "The offer came first.")
    @Outcome(id = "ACCEPTED, task, task", expect = ACCEPTABLE, desc = "The poll came first.")
    @Outcome(expect = FORBIDDEN, desc = "What was taken is gone, or what was refused is there.")
    @State
    public static class OfferAtCapacity {
        private final ExternalLane lane = new ExternalLane(1);

        public OfferAtCapacity() {
            lane.offer(IDLE);
        }

        @Actor
        public void producer(LLL_Result result) {
            result.r1 = lane.offer(a(1));
        }

        @Actor
        public void consumer(LLL_Result result) {
            result.r2 = name(lane.poll());
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r3 = name(lane.poll());
            if (lane.offer(IDLE) != Offer.ACCEPTED) {
                result.r3 = "full when empty";
            }
        }

        private static String name(@Nullable Runnable polled) {
            return polled == null ? "nothing" : "task";
        }
    }

    /// Catches a capacity that is checked apart from the claim: two producers that both saw the
    /// last place free.
    @JCStressTest
    @Outcome(id = "ACCEPTED, FULL, 1", expect = ACCEPTABLE, desc = "A had it.")
    @Outcome(id = "FULL, ACCEPTED, 1", expect = ACCEPTABLE, desc = "B had it.")
    @Outcome(expect = FORBIDDEN, desc = "Two tasks in one place, or a free place refused.")
    @State
    public static class LastPlace {
        private final ExternalLane lane = new ExternalLane(1);

        @Actor
        public void a(LLL_Result result) {
            result.r1 = lane.offer(IDLE);
        }

        @Actor
        public void b(LLL_Result result) {
            result.r2 = lane.offer(IDLE);
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r3 = lane.depth();
        }
    }
}
