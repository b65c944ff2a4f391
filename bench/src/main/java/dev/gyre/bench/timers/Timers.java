package dev.gyre.bench.timers;

import io.netty.channel.epoll.EpollIoHandler;

import java.util.Random;

/// The timers of one peer, many of them outstanding, and what a program does with them.
///
/// A process opens one kind of them only. Then one implementation of this interface is loaded, and
/// the JIT calls it directly: the interface costs no peer anything.
public interface Timers extends AutoCloseable {
    String GYRE = "gyre";
    String NETTY_LOOP = "netty-loop";
    String NETTY_WHEEL = "netty-wheel";
    String EXECUTOR = "executor";
    String AGRONA = "agrona";
    String BARE = "bare";

    /// Schedules the timers that stay outstanding, one for each of the delays, in this order.
    void fill(long[] delaysNanos);

    /// Puts them in another order for [#reschedule]. Where they lie in memory does not change.
    void shuffle(Random random);

    /// Does the work where code that uses these timers would run: within a turn of the loop, if
    /// there is one.
    void turn(Runnable work);

    /// Schedules one more timer and cancels it.
    ///
    /// @param delay which of [Delays]
    void scheduleAndCancel(int delay);

    /// The same with a timer that is kept for it.
    ///
    /// @throws UnsupportedOperationException if a timer of this peer serves once only
    default void reuseAndCancel(int delay) {
        throw new UnsupportedOperationException("a timer serves once");
    }

    /// Cancels an outstanding timer and schedules another one.
    ///
    /// @param which its place in the order
    /// @param delay which of [Delays]
    void replace(int which, int delay);

    /// Puts an outstanding timer off to [Delays#TIMEOUT_NANOS] from now. Where that is no operation
    /// of its own, it is cancelled and another one scheduled.
    ///
    /// @param which its place in the order
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
