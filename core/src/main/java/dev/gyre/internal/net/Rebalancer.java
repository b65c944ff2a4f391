package dev.gyre.internal.net;

import java.util.ArrayList;
import java.util.List;

/// Decides which loops of a group pass connections to which others, so that long-lived connections
/// are evenly distributed.
///
/// **Hysteresis.** It plans nothing while the loops differ by at most [#MIN_DIFFERENCE]
/// connections, or by an eighth of their average. A plan never makes a loop with more connections
/// than the average one with fewer, nor the reverse. So a plan never causes the opposite one.
///
/// **Bounded.** A plan moves at most [#MAX_MOVES] connections. The rest follows in later plans.
///
/// Pure: no state, no I/O. Any thread.
final class Rebalancer {
    /// The difference that is not worth a move.
    static final int MIN_DIFFERENCE = 8;

    static final int MAX_MOVES = 64;

    private static final int TOLERATED_SHARE = 8;

    /// @param from the index of the loop that passes connections
    /// @param to the index of the loop that receives them
    record Transfer(int from, int to, int count) {}

    private Rebalancer() {}

    /// Returns the transfers that even out the loops, within the limit; empty if they are even
    /// enough.
    ///
    /// @param connections the number of connections of each loop
    static List<Transfer> plan(int... connections) {
        int[] counts = connections.clone();
        long sum = 0;
        for (int count : counts) {
            sum += count;
        }
        long average = counts.length == 0 ? 0 : sum / counts.length;
        List<Transfer> transfers = new ArrayList<>();
        int left = MAX_MOVES;
        int from = indexOfMax(counts);
        int to = indexOfMin(counts);
        long tolerated = Math.max(MIN_DIFFERENCE, average / TOLERATED_SHARE);
        if (counts.length == 0 || counts[from] - counts[to] <= tolerated) {
            return transfers;
        }
        while (left > 0 && counts[from] - counts[to] > 1) {
            long surplus = Math.max(1, counts[from] - average);
            long room = Math.max(1, average - counts[to]);
            int count = (int) Math.min(left, Math.min(surplus, room));
            transfers.add(new Transfer(from, to, count));
            counts[from] -= count;
            counts[to] += count;
            left -= count;
            from = indexOfMax(counts);
            to = indexOfMin(counts);
        }
        return transfers;
    }

    private static int indexOfMax(int[] counts) {
        int best = 0;
        for (int i = 1; i < counts.length; i++) {
            best = counts[i] > counts[best] ? i : best;
        }
        return best;
    }

    private static int indexOfMin(int[] counts) {
        int best = 0;
        for (int i = 1; i < counts.length; i++) {
            best = counts[i] < counts[best] ? i : best;
        }
        return best;
    }
}
