package dev.gyre.bench;

import dev.gyre.LoopState;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.util.concurrent.TimeUnit;

/// One wake-up after the other, each of a loop that really sleeps. For counting what a wake-up
/// allocates: as a measure of latency it is worth little, since the loop has only just gone to
/// sleep. `bench/wake` measures that. The waiting yields and parks, so that it also ends soon on a
/// busy machine.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class WakeBenchmark {
    /// The sleeper.
    @State(Scope.Benchmark)
    public static class Sleeper {
        private final GyrePeer peer = new GyrePeer();
        private final Arrival arrival = new Arrival();

        Thread thread() {
            return peer.thread;
        }

        @SuppressWarnings("ThreadPriorityCheck") // a courtesy, nothing relies on it
        void wake() {
            while (peer.loop.state() != LoopState.SLEEPING) {
                Thread.yield();
            }
            arrival.executeAndPark(peer);
        }

        @TearDown
        public void close() {
            peer.close();
        }
    }

    @Benchmark
    public void wake(Sleeper sleeper) {
        sleeper.wake();
    }
}
