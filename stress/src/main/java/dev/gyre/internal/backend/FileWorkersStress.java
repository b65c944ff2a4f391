package dev.gyre.internal.backend;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.LoopConfig;
import dev.gyre.internal.base.StressLoopContext;
import dev.gyre.internal.sys.FileCalls;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;

/// A file that a worker opens while the loop ends. Results: how often the request ended, handed out
/// or abandoned; how many numbers are open that nobody has; and how many were closed twice.
public final class FileWorkersStress {
    private FileWorkersStress() {}

    /// A loop that ends, and one file to be opened.
    private static final class Scene extends StressLoopContext
            implements FileCalls, CompletionHandler {
        private final CompletionQueue completions = new CompletionQueue();
        private final FileWorkers work = new FileWorkers(this, () -> this, completions);
        private final Request request = new Request(this);
        private final LoopConfig config = LoopConfig.DEFAULT.withExecutor(this::hold);

        // Written before the actors begin.
        private Runnable held = () -> {};

        // Shared: guarded by this.
        private final Deque<Runnable> lane = new ArrayDeque<>();
        private boolean over;

        // Shared: written by any actor, read by the arbiter.
        private final AtomicInteger opened = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();

        Scene() {
            request.opcode = Opcode.FILE_OPEN;
            request.begin(null);
            completions.onStarted();
            work.start(request);
        }

        private void hold(Runnable task) {
            held = task;
        }

        /// A tick of the loop: runs the tasks in the lane.
        void turn() {
            Runnable task;
            synchronized (this) {
                task = lane.poll();
            }
            if (task != null) {
                task.run();
            }
        }

        /// Termination: closes the lane and drops its tasks; later ones are discarded.
        void end() {
            synchronized (this) {
                over = true;
                lane.clear();
            }
            work.close();
            discardPosted();
        }

        private void discardPosted() {
            for (Request done = completions.poll(); done != null; done = completions.poll()) {
                ended.incrementAndGet();
                if (done.result >= 0) {
                    int _ = close((int) done.result);
                }
            }
        }

        void rest(III_Result result) {
            discardPosted();
            result.r1 = ended.get();
            result.r2 = Math.max(0, opened.get());
            result.r3 = Math.max(0, -opened.get());
        }

        @Override
        public LoopConfig config() {
            return config;
        }

        @Override
        public synchronized boolean trySubmitPriority(Runnable task) {
            return !over && lane.add(task);
        }

        @Override
        public void abandoned(long result) {
            ended.incrementAndGet();
        }

        @Override
        public void onComplete(Request request) {}

        @Override
        public int open(long pathAddress, int flags, int mode) {
            opened.incrementAndGet();
            return 3;
        }

        @Override
        public int close(int fd) {
            opened.decrementAndGet();
            return 0;
        }

        @Override
        public long pread(int fd, long address, long count, long offset) {
            return 0;
        }

        @Override
        public long pwrite(int fd, long address, long count, long offset) {
            return 0;
        }

        @Override
        public int fsync(int fd) {
            return 0;
        }

        @Override
        public int fdatasync(int fd) {
            return 0;
        }

        @Override
        public int statx(int fd, long pathAddress, int flags, int mask, long statxAddress) {
            return 0;
        }
    }

    /// Catches a result that is lost with the lane, and one that both the worker and the loop see
    /// to.
    @JCStressTest
    @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "Ended once, and nothing left open.")
    @Outcome(expect = FORBIDDEN, desc = "Ended twice or never, or a number lost or closed twice.")
    @State
    public static class ResultAgainstTheEnd {
        private final Scene scene = new Scene();

        @Actor
        public void worker() {
            scene.held.run();
        }

        @Actor
        public void loop() {
            scene.turn();
            scene.end();
        }

        @Arbiter
        public void rest(III_Result result) {
            scene.rest(result);
        }
    }
}
