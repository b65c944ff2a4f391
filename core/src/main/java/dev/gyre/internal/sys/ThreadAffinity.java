package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/// The processors on which the calling thread may run. Linux only.
///
/// A new thread inherits them from the thread that starts it, so [#release()] is for threads that a
/// restricted thread may have started. The first thread of the process is never restricted.
public final class ThreadAffinity {
    /// The size of `cpu_set_t`.
    private static final int MASK_BYTES = 128;

    private static final class Calls {
        static final CFunction GET = intFunction("sched_getaffinity");
        static final CFunction SET = intFunction("sched_setaffinity");
    }

    private ThreadAffinity() {}

    /// Returns the processors on which the calling thread may run; empty if
    /// sched_getaffinity fails or is not available.
    public static BitSet processors() {
        return processors(0);
    }

    private static BitSet processorsOfProcess() {
        return processors(ProcessHandle.current().pid());
    }

    private static BitSet processors(long thread) {
        if (Platform.hasKqueue()) {
            return new BitSet();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES);
            long result = Calls.GET.call(Linkage.newCapture(), thread, MASK_BYTES, mask.address());
            return result < 0 ? new BitSet() : BitSet.valueOf(mask.asByteBuffer());
        }
    }

    /// Restricts the calling thread to one processor of the process.
    ///
    /// @param index the index of the thread among those that share the processors
    /// @param threads the number of these threads
    /// @return the processor, or `-errno`
    public static int restrictToOne(int index, int threads) {
        BitSet processors = processorsOfProcess();
        if (processors.isEmpty()) {
            return -Errno.ENOSYS;
        }
        int chosen = distribute(processors, threads)[index];
        BitSet one = new BitSet();
        one.set(chosen);
        int result = restrict(one);
        return result < 0 ? result : chosen;
    }

    /// Lets the calling thread run on all processors of the process.
    public static void release() {
        BitSet processors = processorsOfProcess();
        if (!processors.isEmpty() && !processors.equals(processors())) {
            int _ = restrict(processors); // If it fails, the thread runs where it does.
        }
    }

    private static int restrict(BitSet processors) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES);
            mask.copyFrom(MemorySegment.ofArray(processors.toByteArray()));
            return (int) Calls.SET.call(Linkage.newCapture(), 0, MASK_BYTES, mask.address());
        }
    }

    /// Assigns processors to threads. If possible, thread `i` of `n` has a processor whose number
    /// modulo `n` is `i`, because `Distribution.REUSE_PORT_BY_CPU` selects loops so. The other
    /// threads have the remaining processors. Threads share processors only if there are too few.
    static int[] distribute(BitSet processors, int threads) {
        int[] chosen = new int[threads];
        Arrays.fill(chosen, -1);
        BitSet free = BitSet.valueOf(processors.toLongArray());
        processors.stream()
                .filter(each -> chosen[each % threads] < 0)
                .forEach(
                        each -> {
                            chosen[each % threads] = each;
                            free.clear(each);
                        });
        for (int i = 0; i < threads; i++) {
            if (chosen[i] < 0) {
                if (free.isEmpty()) {
                    free.or(processors);
                }
                chosen[i] = free.nextSetBit(0);
                free.clear(chosen[i]);
            }
        }
        return chosen;
    }
}
