package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Registrations;

import java.util.Arrays;

/// What one look at the kernel has brought, one event a registration: kqueue tells of reading and
/// writing one by one, but callbacks of one descriptor have an order (W-5), and a one-shot
/// registration only one event.
///
/// Loop thread only.
final class Batch {
    // Which filters told, and which of them of an end.
    static final int READ = 1;
    static final int WRITE = 2;
    static final int EXCEPT = 4;
    static final int READ_END = 8;
    static final int WRITE_END = 16;

    private final long[] udata;
    private final int[] ready;
    private final int[] filters;

    /// By a descriptor's number, where its event may be; what is there says whether it is so.
    private int[] places = new int[64];

    private int size;
    private int next;

    Batch(int capacity) {
        udata = new long[capacity];
        ready = new int[capacity];
        filters = new int[capacity];
    }

    /// How many have not been taken.
    int left() {
        return size - next;
    }

    boolean hasRoom() {
        return size < udata.length;
    }

    void clear() {
        size = 0;
        next = 0;
    }

    /// Adds an event that stands for itself.
    void add(long mark, int told) {
        append(mark, told, 0);
    }

    /// Adds what a filter of a descriptor told, to what the other one told, if it did.
    void add(long mark, int told, int filter) {
        int number = Registrations.numberOf(mark);
        if (number >= places.length) {
            places = Arrays.copyOf(places, Math.max(number + 1, places.length * 2));
        }
        int place = places[number];
        if (place < size && Mark.sameRegistration(udata[place], mark)) {
            // One errno for both filters: that of the filter that reported first.
            ready[place] |= Readiness.errno(ready[place]) == 0 ? told : told & Readiness.EVENTS;
            filters[place] |= filter;
        } else {
            places[number] = size;
            append(mark, told, filter);
        }
    }

    private void append(long mark, int told, int filter) {
        udata[size] = mark;
        ready[size] = told;
        filters[size] = filter;
        size++;
    }

    /// Moves to the next event.
    ///
    /// @return false when there is none
    boolean advance() {
        if (next == size) {
            return false;
        }
        next++;
        return true;
    }

    long udata() {
        return udata[next - 1];
    }

    /// What to tell of the event: the bits of [Ready], of a descriptor.
    int ready() {
        int told = ready[next - 1];
        boolean bothEnded = (~filters[next - 1] & (READ_END | WRITE_END)) == 0;
        return bothEnded && Mark.isSocket(udata()) ? told | Readiness.HANGUP : told;
    }

    /// Whether another filter is still armed that this event ought to have disarmed.
    boolean leavesOneArmed() {
        long mark = udata();
        if ((mark & Mark.ONE_SHOT_OF_MANY) == 0) {
            return false;
        }
        // With urgent data it might be two filters or three: rather disarm what is not there.
        return (mark & Mark.URGENT) != 0 || (~filters[next - 1] & (READ | WRITE)) != 0;
    }
}
