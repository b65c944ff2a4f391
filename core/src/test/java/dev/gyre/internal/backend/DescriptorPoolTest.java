package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.IntFunction;

/// Preallocated descriptors and operations, measured by the bytes that their use allocates.
class DescriptorPoolTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int COUNT = 512;

    /// The least that creating as many at once allocates.
    private static final long BYTES = COUNT * 64L;

    private static long allocated(IntFunction<?> make) {
        Object[] kept = new Object[COUNT];
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < COUNT; i++) {
            kept[i] = make.apply(i);
        }
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertThat(kept).doesNotHaveDuplicates();
        return bytes;
    }

    @Test
    @Clause("B-8")
    void take_ofPreallocatedStates_allocatesNone() {
        allocated(i -> new DescriptorPool((_, _) -> {}, 1).acquire(i, 0)); // Loads what is needed.
        DescriptorPool none = new DescriptorPool((_, _) -> {}, 0);
        DescriptorPool enough = new DescriptorPool((_, _) -> {}, COUNT);
        assertThat(allocated(i -> none.acquire(i, 0))).isGreaterThan(BYTES);
        assertThat(allocated(i -> enough.acquire(i, 0))).isLessThan(BYTES);
        assertThat(allocated(i -> enough.acquire(i, 0))).as("all are in use").isGreaterThan(BYTES);
    }

    @Test
    @Clause("B-8")
    void read_ofPreallocatedOperations_allocatesNone() {
        long[] bytes = new long[2];
        for (int preallocated : new int[] {0, COUNT, 0, COUNT}) { // The first two warm up.
            LoopConfig config = LoopConfig.DEFAULT.withPreallocated(0, preallocated);
            try (EventLoop loop = Loop.open(config, new ScriptedBackend())) {
                List<Descriptor> pair = Sockets.pair(loop);
                Buffer buffer = Buffer.allocate(8);
                Operations operations = Operations.on(loop);
                IntFunction<Operation> read =
                        _ -> operations.read(pair.getFirst(), buffer, _ -> {});
                bytes[preallocated == 0 ? 0 : 1] = allocated(read);
                pair.forEach(Descriptor::close);
            }
        }
        assertThat(bytes[0] - bytes[1]).as("saved").isGreaterThan(BYTES);
    }

    @Test
    @Clause("B-8")
    void giveIfUnused_takesBackWhatIsClosedAndNotReferredTo() {
        DescriptorPool pool = new DescriptorPool((_, _) -> {}, 0);
        DescriptorState state = pool.acquire(3, 0);
        pool.releaseIfUnused(state);
        assertThat(pool.acquire(4, 0)).as("it is open").isNotSameAs(state);
        state.released = () -> {};
        state.inFlight = 1;
        pool.releaseIfUnused(state);
        state.inFlight = 0;
        state.dirty = true;
        pool.releaseIfUnused(state);
        state.dirty = false;
        state.awaitsBuffer = true;
        pool.releaseIfUnused(state);
        state.awaitsBuffer = false;
        Request waiting = new Request(_ -> {});
        state.queue(Opcode.Kind.WRITE).add(waiting);
        pool.releaseIfUnused(state);
        assertThat(pool.acquire(4, 0)).as("something refers to it").isNotSameAs(state);
        state.queue(Opcode.Kind.WRITE).remove(waiting);
        pool.releaseIfUnused(state);
        DescriptorState again = pool.acquire(5, DescriptorState.Traits.TCP);
        assertThat(again).isSameAs(state);
        assertThat(again.fd).isEqualTo(5);
        assertThat(again.released).isNull();
    }
}
