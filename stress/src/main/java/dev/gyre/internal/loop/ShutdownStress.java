package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.TERMINATING;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.LoopConfig;
import dev.gyre.ShutdownReport;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.stress.OneBitBackend;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/// Catches a loop that carries its end out before the external lane is closed. Whoever begins the end moves
/// the state first and closes the lane next; held up in between, it must not leave a gap in which the
/// loop ends and a producer, who looked at the state before, still gets a task in. That third party
/// is played by both actors: the loop's moves the state, the producer's closes the lane.
@JCStressTest
@Outcome(id = "ACCEPTED, 1", expect = ACCEPTABLE, desc = "Dropped, and reported.")
@Outcome(id = "TERMINATED, 0", expect = ACCEPTABLE, desc = "Refused.")
@Outcome(expect = FORBIDDEN, desc = "Accepted, and neither run nor reported.")
@State
public class ShutdownStress {
    private static final LoopConfig CONFIG =
            LoopConfig.DEFAULT.withHighWaterMark(64).withObserver(new LoopObserver() {});

    private final Parts parts = new Parts(CONFIG, new OneBitBackend(), method -> {});
    private final Shutdown shutdown = new Shutdown(parts);

    public ShutdownStress() {
        parts.state.move(AWAKE, RUNNING);
    }

    @Actor
    public void producer(LL_Result result) {
        result.r1 = parts.ingress.submit(() -> {});
        parts.ingress.external.close();
    }

    @Actor
    public void loop() {
        parts.state.move(RUNNING, TERMINATING);
        shutdown.carryOut(true);
    }

    @Arbiter
    public void rest(LL_Result result) {
        ShutdownReport report = shutdown.outcome().join();
        result.r2 = report.tasks() + parts.callbacks.tasks.get();
    }
}
