package dev.gyre.bench;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.LinuxPollCalls;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.util.concurrent.TimeUnit;

/// Measures an idle tick and its parts.
///
/// | benchmark | clock | steps of a tick | one callback | announces sleep | `epoll_wait` |
/// |---|---|---|---|---|---|
/// | [#systemCall] | | | | | × |
/// | [#clock] | × | | | | |
/// | [#deferring] | × | × | × | | × |
/// | [#empty] | × | × | | × | × |
/// | [#withoutKernel] | × | × | | × | |
///
/// [#deferring] is possible in a program: a callback that defers itself keeps the loop from
/// waiting, so each tick polls once and runs that callback. [#empty] runs no callback. Such a loop
/// would wait, so its backend polls instead of waiting. It pays for the announcement of a sleep,
/// two atomic exchanges, instead of the callback. [#withoutKernel] has a backend that does nothing.
///
/// All run on the benchmark's own thread, ten thousand ticks per call of `run`.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TickBenchmark {
    static final int TICKS = 10_000;

    /// A loop kept awake by a callback that defers itself.
    @State(Scope.Thread)
    public static class DeferringLoop {
        private final EventLoop loop = EventLoop.open();
        private final Runnable callback = this::onDeferred;
        private int left;

        long run() {
            left = TICKS;
            loop.defer(callback);
            loop.run();
            return loop.metrics().ticks();
        }

        private void onDeferred() {
            if (--left > 0) {
                loop.defer(callback);
            } else {
                loop.stop();
            }
        }

        @TearDown
        public void close() {
            loop.close();
        }
    }

    /// A loop that would wait in every tick, on a backend that does not.
    private static final class EmptyLoop implements AutoCloseable {
        private final Loop loop;
        private int left;

        EmptyLoop(Backend backend) {
            loop = Loop.open(LoopConfig.DEFAULT, new RestlessBackend(backend, this::beforeWait));
        }

        long run() {
            left = TICKS;
            loop.run();
            return loop.metrics().ticks();
        }

        private void beforeWait() {
            if (--left == 0) {
                loop.stop();
            }
        }

        @Override
        public void close() {
            loop.close();
        }
    }

    /// On the real kernel.
    @State(Scope.Thread)
    public static class EmptyLoopOverEpoll {
        private final EmptyLoop loop =
                new EmptyLoop(
                        EpollBackend.open(LinuxPollCalls::new, LoopConfig.DEFAULT.eventsPerWait()));

        @TearDown
        public void close() {
            loop.close();
        }
    }

    /// Without a kernel.
    @State(Scope.Thread)
    public static class EmptyLoopOverNothing {
        private final EmptyLoop loop = new EmptyLoop(new NoBackend());

        @TearDown
        public void close() {
            loop.close();
        }
    }

    /// The system call alone.
    @State(Scope.Thread)
    public static class SystemCall {
        private final BareEpoll epoll = new BareEpoll();

        @TearDown
        public void close() {
            epoll.close();
        }
    }

    @Benchmark
    public int systemCall(SystemCall call) {
        return call.epoll.pollNow();
    }

    @Benchmark
    public long clock() {
        return System.nanoTime();
    }

    @Benchmark
    @OperationsPerInvocation(TICKS)
    public long deferring(DeferringLoop loop) {
        return loop.run();
    }

    @Benchmark
    @OperationsPerInvocation(TICKS)
    public long empty(EmptyLoopOverEpoll loop) {
        return loop.loop.run();
    }

    @Benchmark
    @OperationsPerInvocation(TICKS)
    public long withoutKernel(EmptyLoopOverNothing loop) {
        return loop.loop.run();
    }
}
