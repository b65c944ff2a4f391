package dev.gyre.bench.timers;

import io.netty.channel.epoll.EpollIoHandler;

import java.util.Random;

/// The timers of one implementation, with many outstanding.
///
/// A process opens only one kind. So one implementation of this interface is loaded, and the JIT
/// calls it directly: the interface costs nothing.
public interface Timers extends AutoCloseable {
    String GYRE = "gyre";
    String NETTY_LOOP = "netty-loop";
    String NETTY_WHEEL = "netty-wheel";
    String EXECUTOR = "executor";
    String AGRONA = "agrona";
    String BARE = "bare";

    /// Schedules the outstanding timers, one per delay, in this order.
    void fill(long[] delaysNanos);

    /// Shuffles the order of [#reschedule]. Their places in memory do not change.
    void shuffle(Random random);

    /// Runs the work where code that uses these timers runs: within a tick of the loop, if any.
    void turn(Runnable work);

    /// Schedules one more timer and cancels it.
    ///
    /// @param delay an index of [Delays]
    void scheduleAndCancel(int delay);

    /// Does the same with a reused timer.
    ///
    /// @throws UnsupportedOperationException if timers cannot be reused
    default void reuseAndCancel(int delay) {
        throw new UnsupportedOperationException("a timer serves once");
    }

    /// Cancels an outstanding timer and schedules another one.
    ///
    /// @param which its position in the order
    /// @param delay an index of [Delays]
    void replace(int which, int delay);

    /// Reschedules an outstanding timer to [Delays#TIMEOUT_NANOS] from now. Without support for
    /// rescheduling it is cancelled, and another one is scheduled.
    ///
    /// @param which its position in the order
    void reschedule(int which);

    @Override
    void close();

    static Timers open(String peer) {
        return switch (peer) {
            case GYRE -> new GyreTimers();
            case NETTY_LOOP -> new NettyLoopTimers(EpollIoHandler.newFactory());
            case NETTY_WHEEL -> new NettyWheelTimers();
            case EXECUTOR -> new ExecutorTimers();
            case AGRONA -> new AgronaTimers();
            case BARE -> new BareTimers();
            default -> throw new IllegalArgumentException("no such peer: " + peer);
        };
    }
}
