package dev.gyre.internal.group;

import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/// The current loops of a group, by their index, and the values per loop.
///
/// A replacement publishes its loop, then reads the value list. `perLoop` adds to the value list,
/// then reads the loops. So at least one of the two creates each value. [LoopValues#create] ignores
/// the second attempt.
///
/// Any thread.
final class LoopSlots {
    private final LoopConfig config;
    private final LoopHost host;
    private final AtomicReferenceArray<@Nullable Loop> loops;
    private final AtomicInteger turn = new AtomicInteger();

    // Shared: guarded by itself.
    private final List<LoopValues<?>> values = new ArrayList<>();

    LoopSlots(int size, LoopConfig config, LoopHost host) {
        this.config = config;
        this.host = host;
        loops = new AtomicReferenceArray<>(size);
    }

    int size() {
        return loops.length();
    }

    /// Opens a loop that is not a current one yet.
    Loop open(int index) {
        LoopConfig own =
                config.hasBufferMemoryShare() ? config.withBufferMemoryShare(size()) : config;
        Loop loop = host.open(index, own.withName(own.name() + "-" + index));
        loop.groupIndex = index;
        return loop;
    }

    /// Makes a loop the current one of its index. It continues the trace of the one it replaces.
    void set(Loop loop) {
        synchronized (TraceRecorder.LOCK) {
            Loop before = loops.getAndSet(loop.groupIndex, loop);
            if (before != null) {
                loop.trace.continueFrom(before.trace);
            }
        }
    }

    Loop get(int index) {
        Loop loop = loops.get(index);
        assert loop != null : "not open: " + index;
        return loop;
    }

    List<Loop> all() {
        List<Loop> all = new ArrayList<>(size());
        for (int i = 0; i < size(); i++) {
            Loop loop = loops.get(i);
            if (loop != null) { // Opening the group failed before it.
                all.add(loop);
            }
        }
        return all;
    }

    /// Calls the action for all loops, whatever it throws for one of them.
    void forAll(Consumer<Loop> action) {
        Throwable thrown = null;
        for (Loop loop : all()) {
            try {
                action.accept(loop);
            } catch (Throwable e) {
                thrown = Throwables.firstOf(thrown, e);
            }
        }
        if (thrown != null) {
            throw Throwables.rethrow(thrown);
        }
    }

    /// Returns the loops in turn, without terminated ones if others exist.
    Loop next() {
        Loop loop = get(Math.floorMod(turn.getAndIncrement(), size()));
        for (int i = 1; i < size() && loop.state() == LoopState.TERMINATED; i++) {
            loop = get(Math.floorMod(turn.getAndIncrement(), size()));
        }
        return loop;
    }

    /// Returns the index of a loop; -1 if it is not a current one.
    @SuppressWarnings("ReferenceEquality") // compares identity
    int indexOf(Loop loop) {
        int index = loop.groupIndex;
        return index >= 0 && index < size() && loops.get(index) == loop ? index : -1;
    }

    void add(LoopValues<?> made) {
        synchronized (values) {
            values.add(made);
        }
    }

    void remove(LoopValues<?> made) {
        synchronized (values) {
            values.remove(made);
        }
    }

    List<LoopValues.Member> members() {
        synchronized (values) {
            return values.stream().map(LoopValues::member).filter(Objects::nonNull).toList();
        }
    }

    /// Ends the members, whatever one of them throws.
    void endMembers() {
        for (LoopValues.Member member : members()) {
            try {
                member.onEnded();
            } catch (Throwable e) {
                Log.LOG.log(System.Logger.Level.ERROR, "cannot close " + member, e);
            }
        }
    }

    /// Returns the reports of the loops, which are terminated or terminating.
    List<ShutdownReport> reports() {
        return all().stream().map(LoopSlots::reportOf).toList();
    }

    /// Another thread may still be releasing the loop.
    private static ShutdownReport reportOf(Loop loop) {
        try {
            return loop.shutdown(Duration.ZERO).toCompletableFuture().join();
        } catch (RuntimeException e) {
            Log.LOG.log(
                    System.Logger.Level.ERROR,
                    "cannot read the shutdown report of loop "
                            + loop.config().name()
                            + "; it counts as not graceful",
                    e);
            return new ShutdownReport(false, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }
    }

    /// Creates all values of a loop that replaces another one. Loop-confined to that loop.
    void createValues(Loop loop) {
        List<LoopValues<?>> all;
        synchronized (values) {
            all = List.copyOf(values);
        }
        all.forEach(each -> each.create(loop));
    }
}
