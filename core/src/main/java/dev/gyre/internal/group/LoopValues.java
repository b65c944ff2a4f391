package dev.gyre.internal.group;

import dev.gyre.EventLoop;
import dev.gyre.PerLoop;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.Function;

/// The values of [PerLoop], by the index of the loop in its group.
public final class LoopValues<T> implements PerLoop<T> {
    /// The owner of the values, if it ends with the group: a listener.
    public interface Member {
        /// Drains, like an action of [dev.gyre.LoopGroup#onShutdown].
        CompletionStage<?> onShutdown(Duration deadline);

        /// Called after the last loop has terminated.
        void onEnded();
    }

    private record Entry<T>(EventLoop loop, T value) {}

    private final LoopSlots loops;
    private final Function<? super EventLoop, ? extends T> factory;

    private final @Nullable Member member;

    // Shared: written when a loop starts, read by any thread.
    private final AtomicReferenceArray<@Nullable Entry<T>> entries;

    LoopValues(
            LoopSlots loops,
            Function<? super EventLoop, ? extends T> factory,
            @Nullable Member member) {
        this.loops = loops;
        this.member = member;
        this.factory = Objects.requireNonNull(factory, "factory");
        entries = new AtomicReferenceArray<>(loops.size());
    }

    @Nullable Member member() {
        return member;
    }

    /// Creates no further values, and ends the membership. The existing values stay.
    public void remove() {
        loops.remove(this);
    }

    /// Creates the value of a loop, unless it has one. Loop-confined to that loop.
    void create(Loop loop) {
        Entry<T> present = entries.get(loop.groupIndex);
        if (present != null && present.loop.equals(loop)) {
            return; // The loop replaced another one while perLoop() waited for it.
        }
        T value = Objects.requireNonNull(factory.apply(loop), "the value of a loop");
        if (value instanceof AutoCloseable resource) {
            loop.own(resource);
        }
        entries.set(loop.groupIndex, new Entry<>(loop, value));
    }

    /// Closes the values that were created before the factory threw.
    ///
    /// @param onLoop runs an action that is confined to a loop
    void close(BiConsumer<EventLoop, Runnable> onLoop) {
        for (int i = 0; i < entries.length(); i++) {
            Entry<T> entry = entries.getAndSet(i, null);
            if (entry != null && entry.value instanceof AutoCloseable resource) {
                try {
                    onLoop.accept(entry.loop, () -> close(entry.loop, resource));
                } catch (RuntimeException e) {
                    // The loop has terminated, and has closed it.
                }
            }
        }
    }

    private static void close(EventLoop loop, AutoCloseable resource) {
        loop.disown(resource);
        try {
            resource.close();
        } catch (Exception e) {
            throw new IllegalStateException("cannot close the value of " + loop, e);
        }
    }

    @Override
    public T get(EventLoop loop) {
        int index = loops.indexOf(Loop.of(loop));
        Entry<T> entry = index < 0 ? null : entries.get(index);
        if (entry == null || !entry.loop.equals(loop)) {
            throw new IllegalArgumentException(
                    "loop " + loop.config().name() + " is not a current loop of the group");
        }
        return entry.value;
    }
}
