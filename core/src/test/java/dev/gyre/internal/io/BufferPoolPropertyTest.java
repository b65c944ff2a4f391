package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Buffer;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Compares the pool and its slices with a model of contents and usage. If two buffers shared
/// memory by mistake, one would read the other's bytes.
class BufferPoolPropertyTest {
    private static final int LIMIT = 1 << 20;

    enum Kind {
        TAKE,
        TAKE_FOR_USER,
        PUT,
        SLICE,
        SKIP,
        COMPACT,
        CLEAR,
        RELEASE
    }

    record Step(Kind kind, int which, int size) {}

    @Provide
    Arbitrary<List<Step>> programs() {
        Arbitrary<Integer> sizes =
                Arbitraries.of(0, 1, 7, 100, 4_095, 4_096, 5_000, 16_384, 40_000, 65_536, 300_000);
        return Combinators.combine(
                        Arbitraries.of(Kind.values()), Arbitraries.integers().between(0, 99), sizes)
                .as(Step::new)
                .list()
                .ofMaxSize(120);
    }

    /// The model of a buffer.
    private static final class Model {
        final Buffer buffer;
        final List<Byte> readable = new ArrayList<>();
        final int memory;
        final boolean slice;

        Model(Buffer buffer, int memory, boolean slice) {
            this.buffer = buffer;
            this.memory = memory;
            this.slice = slice;
        }
    }

    private static final class World {
        final Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT
                                .withBufferMemory(LIMIT)
                                .withFailurePolicy(FailurePolicy.PROPAGATE),
                        new ScriptedBackend());
        final BufferPool pool = loop.operations().pool();
        final List<Model> out = new ArrayList<>();

        /// The size of each memory, and the number of its buffers.
        final Map<Integer, Integer> sizes = new HashMap<>();

        final Map<Integer, Integer> holders = new HashMap<>();
        private int lastMemory;
        private byte lastByte;

        void take(Step step) {
            int atLeast = Math.max(1, step.size);
            int size = atLeast <= 4_096 ? 4_096 : atLeast <= 16_384 ? 16_384 : 65_536;
            size = Math.max(size, (atLeast + 4_095) / 4_096 * 4_096);
            @Nullable Buffer taken =
                    step.kind == Kind.TAKE ? pool.acquire(atLeast) : pool.acquireForUser(atLeast);
            if (used() + size > LIMIT) {
                assertThat(taken).as("beyond the limit").isNull();
                return;
            }
            assertThat(taken).as("within the limit").isNotNull();
            assertThat(taken.capacity()).isEqualTo(size);
            assertThat(taken.writable()).isEqualTo(size);
            lastMemory++;
            sizes.put(lastMemory, size);
            holders.put(lastMemory, 1);
            out.add(new Model(taken, lastMemory, false));
        }

        long used() {
            return sizes.values().stream().mapToLong(Integer::longValue).sum();
        }

        void put(Model model, int size) {
            int length = Math.min(Math.min(size, 200), model.buffer.writable());
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = lastByte++;
                model.readable.add(bytes[i]);
            }
            model.buffer.put(bytes);
        }

        void slice(Model model, int size) {
            int length = Math.min(size, model.readable.size());
            Model slice = new Model(model.buffer.slice(length), model.memory, true);
            slice.readable.addAll(model.readable.subList(0, length));
            model.readable.subList(0, length).clear();
            holders.merge(model.memory, 1, Integer::sum);
            out.add(slice);
        }

        void release(Model model) {
            model.buffer.release();
            out.remove(model);
            if (holders.merge(model.memory, -1, Integer::sum) == 0) {
                sizes.remove(model.memory);
            }
        }

        void run(Step step) {
            if (step.kind == Kind.TAKE || step.kind == Kind.TAKE_FOR_USER) {
                take(step);
                return;
            }
            if (out.isEmpty()) {
                return;
            }
            Model model = out.get(step.which % out.size());
            switch (step.kind) {
                case PUT -> put(model, step.size);
                case SLICE -> slice(model, step.size);
                case SKIP -> {
                    int length = Math.min(step.size, model.readable.size());
                    model.buffer.skip(length);
                    model.readable.subList(0, length).clear();
                }
                case COMPACT -> model.buffer.compact();
                case CLEAR -> {
                    model.buffer.clear();
                    model.readable.clear();
                }
                default -> release(model);
            }
        }

        void check() {
            assertThat(pool.used()).as("bytes in use").isEqualTo(used()).isLessThanOrEqualTo(LIMIT);
            for (Model model : out) {
                assertThat(model.buffer.readable()).isEqualTo(model.readable.size());
                if (model.slice) {
                    assertThat(model.buffer.writable()).as("room of a slice").isZero();
                }
                for (int i = 0; i < model.readable.size(); i++) {
                    assertThat(model.buffer.peek(i))
                            .as("byte %d", i)
                            .isEqualTo(model.readable.get(i));
                }
            }
        }

        /// Without other buffers of the memory, clear() makes all of it writable.
        void checkRoom(Model model) {
            if (!model.slice && holders.get(model.memory) == 1) {
                assertThat(model.buffer.clear().writable()).isEqualTo(model.buffer.capacity());
                model.readable.clear();
            }
        }
    }

    @Property(tries = 400)
    void anyProgram_sharesNoMemoryAndCountsExactly(@ForAll("programs") List<Step> program) {
        World world = new World();
        try {
            world.loop.submit(
                    () -> {
                        for (Step step : program) {
                            world.run(step);
                            world.check();
                        }
                        world.out.forEach(world::checkRoom);
                        world.check();
                        List.copyOf(world.out).forEach(world::release);
                    });
            world.loop.runSome();
            assertThat(world.pool.used()).as("after all were released").isZero();
        } finally {
            world.loop.close();
        }
    }
}
