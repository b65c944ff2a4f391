package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The slots of requests that have their turn. A slot is free again when the last completion of its request
/// has come, so no late one can reach a later request; the generation in each token is there to prove it.
///
/// Loop thread only.
final class Flights {
    private static final int MOST_GENERATION = (1 << 30) - 1;

    private Flight[] flights = {};
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

    Flight at(int slot) {
        return flights[slot];
    }

    Flight take(Request request) {
        if (freeCount == 0) {
            grow();
        }
        Flight taken = flights[free[--freeCount]];
        taken.begin(request);
        return taken;
    }

    private void grow() {
        int size = flights.length;
        int larger = Math.max(16, size + size / 2); // All of them are made at once.
        Flight[] grown = Arrays.copyOf(flights, larger);
        int[] unused = new int[larger];
        int count = 0;
        for (int slot = larger - 1; slot >= size; slot--) {
            grown[slot] = new Flight(slot);
            unused[count++] = slot;
        }
        flights = grown; // All or nothing: memory may be short.
        free = unused;
        freeCount = count;
    }

    void give(Flight flight) {
        flight.request().slot = -1;
        flight.request = null;
        free[freeCount++] = flight.slot;
    }

    /// A token for the next submission of this one.
    long nextToken(Flight flight) {
        generation = (generation + 1) & MOST_GENERATION;
        return Tokens.operation(flight.slot, generation);
    }

    void toKernel(Flight flight, long token) {
        flight.token = token;
        flight.inKernel = true;
        inKernel++;
    }

    void fromKernel(Flight flight) {
        flight.inKernel = false;
        inKernel--;
    }

    /// Whose completion it is, or null if it is of a ring that is gone.
    @Nullable Flight find(long token) {
        int slot = Tokens.slot(token);
        Flight flight = slot < flights.length ? flights[slot] : null;
        return flight != null && flight.inKernel && flight.token == token ? flight : null;
    }
}
