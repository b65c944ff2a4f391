package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The slots of requests that have their turn. A slot is free again when the last completion of its request
/// has come, so no late one can reach a later request; the generation in each token is there to prove it.
///
/// Loop thread only.
final class InFlightTable {
    private static final int MOST_GENERATION = (1 << 30) - 1;

    private InFlightOp[] flights = {};
    private int[] free = {};
    private int freeCount;
    private int generation;
    private int inKernel;

    /// How many of them the kernel has.
    int inKernel() {
        return inKernel;
    }

    int slots() {
        return flights.length;
    }

    InFlightOp at(int slot) {
        return flights[slot];
    }

    InFlightOp take(Request request) {
        if (freeCount == 0) {
            grow();
        }
        InFlightOp taken = flights[free[--freeCount]];
        taken.begin(request);
        return taken;
    }

    private void grow() {
        int size = flights.length;
        int larger = Math.max(16, size + size / 2); // All of them are made at once.
        InFlightOp[] grown = Arrays.copyOf(flights, larger);
        int[] unused = new int[larger];
        int count = 0;
        for (int slot = larger - 1; slot >= size; slot--) {
            grown[slot] = new InFlightOp(slot);
            unused[count++] = slot;
        }
        flights = grown; // All or nothing: memory may be short.
        free = unused;
        freeCount = count;
    }

    void give(InFlightOp flight) {
        flight.request().slot = -1;
        flight.request = null;
        free[freeCount++] = flight.slot;
    }

    /// A token for the next submission of this one.
    long nextToken(InFlightOp flight) {
        generation = (generation + 1) & MOST_GENERATION;
        return UserData.operation(flight.slot, generation);
    }

    void toKernel(InFlightOp flight, long token) {
        flight.token = token;
        flight.inKernel = true;
        inKernel++;
    }

    void fromKernel(InFlightOp flight) {
        flight.inKernel = false;
        inKernel--;
    }

    /// Whose completion it is, or null if it is of a ring that is gone.
    @Nullable InFlightOp find(long token) {
        int slot = UserData.slot(token);
        InFlightOp flight = slot < flights.length ? flights[slot] : null;
        return flight != null && flight.inKernel && flight.token == token ? flight : null;
    }
}
