package dev.gyre.bench.timers;

import java.util.Arrays;
import java.util.Random;

/// No timers: objects as large as Gyre's, into which a deadline is written. This is the floor for
/// one object per timer in random order. With many objects it is the latency of memory.
final class BareTimers implements Timers {
    /// As large as a timer of Gyre with its header, which `BareTimersTest` checks.
    @SuppressWarnings("unused") // there to take up room
    static final class Bare {
        private long deadlineNanos;
        private long padding1;
        private long padding2;
        private long padding3;
        private long padding4;
        private long padding5;
        private long padding6;
    }

    private long nowNanos;
    private Bare[] outstanding = {};

    @Override
    public void fill(long[] delaysNanos) {
        outstanding = Arrays.stream(delaysNanos).mapToObj(_ -> new Bare()).toArray(Bare[]::new);
    }

    @Override
    public void shuffle(Random random) {
        Shuffle.shuffle(outstanding, random);
    }

    @Override
    public void turn(Runnable work) {
        nowNanos = System.nanoTime();
        work.run();
    }

    @Override
    public void scheduleAndCancel(int delay) {
        throw new UnsupportedOperationException("nothing is ever scheduled");
    }

    @Override
    public void replace(int which, int delay) {
        outstanding[which] = new Bare();
    }

    @Override
    public void reschedule(int which) {
        outstanding[which].deadlineNanos = nowNanos + Delays.TIMEOUT_NANOS;
    }

    @Override
    public void close() {}
}
