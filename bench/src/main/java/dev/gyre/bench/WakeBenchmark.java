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

/// Wakes a sleeping loop repeatedly, to count the bytes that a wake-up allocates. It is no measure
/// of latency, because the loop has only just fallen asleep: `bench/wake` measures that. Waiting
/// yields and parks, so that it ends soon on a busy machine too.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class WakeBenchmark {
    /// The sleeping loop.
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
