package dev.gyre.internal.io;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.CancellationSource;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.epoll.CountingKernel;
import dev.gyre.internal.base.StressLoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LII_Result;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// An operation that completes on the loop thread while another thread ends it. Results: how it
/// ended, how often it completed, and whether the number was given back once, after all use of it.
public final class OperationStress {
    private OperationStress() {}

    /// A loop's operations, one descriptor and one operation that is pending on it.
    private static final class Scene extends StressLoopContext {
        final CountingKernel kernel = new CountingKernel();
        final OneRequest requests = new OneRequest();
        final LoopOperations operations =
                new LoopOperations(
                        this,
                        requests,
                        new SyscallFactories(
                                () -> kernel,
                                SyscallFactories.LINUX.sockets(),
                                SyscallFactories.LINUX.files()),
                        LoopConfig.DEFAULT);
        final OpenDescriptor descriptor =
                OpenDescriptor.fresh(() -> kernel, NumberedKernel.FD, true);
        final Operation operation;

        // Shared: filled by any actor, emptied by the loop's.
        private final Queue<Runnable> lane = new ConcurrentLinkedQueue<>();

        // The loop's actor, and the arbiter after it.
        private int completions;
        private String how = "pending";

        // Shared: written by the loop's actor, read by all to know themselves.
        private volatile @Nullable Thread loopThread;

        Scene() {
            descriptor.lifetime().setTraits(Traits.SOCKET | Traits.STREAM);
            operation =
                    operations
                            .pools()
                            .accepting
                            .acquire()
                            .of(
                                    descriptor,
                                    false,
                                    op -> {
                                        completions++;
                                        how = op.isCancelled() ? "cancelled" : "through";
                                    });
        }

        /// A tick of the loop, with a kernel that has completed the operation.
        void turn() {
            loopThread = Thread.currentThread();
            requests.arrive(-Errno.ENOMEM); // Brings no descriptor of its own.
            drain();
        }

        private void drain() {
            for (Runnable task = lane.poll(); task != null; task = lane.poll()) {
                task.run();
            }
            for (Request done = requests.pollCompleted();
                    done != null;
                    done = requests.pollCompleted()) {
                done.handler.onComplete(done);
            }
        }

        void rest(LII_Result result) {
            loopThread = Thread.currentThread();
            drain();
            result.r1 = how;
            result.r2 = completions;
            descriptor.close();
            drain();
            result.r3 = kernel.isClosed() ? kernel.late() : -1;
        }

        @Override
        public boolean trySubmitPriority(Runnable task) {
            return lane.add(task);
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a thread is only itself
        public boolean isLoopThread() {
            return loopThread == Thread.currentThread();
        }
    }

    /// Catches an operation that completes twice or never, and a number that is given back before
    /// the loop has let go of it, twice, or never.
    @JCStressTest
    @Outcome(id = "through, 1, 0", expect = ACCEPTABLE, desc = "The kernel was first.")
    @Outcome(id = "cancelled, 1, 0", expect = ACCEPTABLE, desc = "The close was first.")
    @Outcome(expect = FORBIDDEN, desc = "Not one completion, or a number not given back once.")
    @State
    public static class CompletionAgainstClose {
        private final Scene scene = new Scene();

        public CompletionAgainstClose() {
            scene.operation.start();
        }

        @Actor
        public void loop() {
            scene.turn();
        }

        @Actor
        public void closer() {
            scene.descriptor.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }

    /// Catches a cancellation that reaches an operation which is through, and one that nobody
    /// listens to any more.
    @JCStressTest
    @Outcome(id = "through, 1, 0", expect = ACCEPTABLE, desc = "The kernel was first.")
    @Outcome(id = "cancelled, 1, 0", expect = ACCEPTABLE, desc = "The cancellation was first.")
    @Outcome(expect = FORBIDDEN, desc = "Not one completion, or a number not given back once.")
    @State
    public static class CompletionAgainstCancellation {
        private final Scene scene = new Scene();
        private final CancellationSource source = new CancellationSource();

        public CompletionAgainstCancellation() {
            scene.operation.cancelOn(source.cancellation()).start();
        }

        @Actor
        public void loop() {
            scene.turn();
        }

        @Actor
        public void canceller() {
            source.cancel();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }

    /// Catches a start on a number that is being given back.
    @JCStressTest
    @Outcome(id = "through, 1, 0", expect = ACCEPTABLE, desc = "Started and through.")
    @Outcome(id = "cancelled, 1, 0", expect = ACCEPTABLE, desc = "Started, then closed.")
    @Outcome(id = "pending, 0, 0", expect = ACCEPTABLE, desc = "Closed, then refused.")
    @Outcome(expect = FORBIDDEN, desc = "Not one completion, or a number not given back once.")
    @State
    public static class StartAgainstClose {
        private final Scene scene = new Scene();

        @Actor
        public void loop() {
            try {
                scene.loopThread = Thread.currentThread();
                scene.operation.start();
                scene.turn();
            } catch (IllegalStateException e) {
                // Refused.
            }
        }

        @Actor
        public void closer() {
            scene.descriptor.close();
        }

        @Arbiter
        public void rest(LII_Result result) {
            scene.rest(result);
        }
    }
}
