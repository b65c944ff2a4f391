package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.base.TraceRecorder.Filter;
import dev.gyre.metrics.Trace;
import dev.gyre.metrics.TraceEvent;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/// The trace of a loop, or of the current loops of a group.
///
/// Any thread.
public final class LoopTrace implements Trace {
    private final Supplier<? extends List<EventLoop>> loops;
    private final Filter filter;

    public LoopTrace(Supplier<? extends List<EventLoop>> loops) {
        this(loops, Filter.ALL);
    }

    private LoopTrace(Supplier<? extends List<EventLoop>> loops, Filter filter) {
        this.loops = loops;
        this.filter = filter;
    }

    @Override
    public Trace connection(long id) {
        if (id < 1) {
            throw new IllegalArgumentException("id must be at least 1, but is " + id);
        }
        return new LoopTrace(loops, new Filter(id, null, null));
    }

    @Override
    public Trace peer(InetAddress address) {
        Objects.requireNonNull(address, "address");
        return new LoopTrace(loops, new Filter(0, address, null));
    }

    @Override
    public Trace route(String pattern) {
        Objects.requireNonNull(pattern, "pattern");
        return new LoopTrace(loops, new Filter(0, null, pattern));
    }

    @Override
    public Trace all() {
        return new LoopTrace(loops);
    }

    @Override
    public void start() {
        set(filter);
    }

    @Override
    public void stop() {
        set(null);
    }

    private void set(@Nullable Filter next) {
        synchronized (TraceRecorder.LOCK) {
            recorders().forEach(each -> each.set(next));
        }
    }

    @Override
    public boolean isOn() {
        return recorders().stream().anyMatch(each -> each.filter() != null);
    }

    @Override
    public List<TraceEvent> events() {
        List<TraceEvent> events = new ArrayList<>();
        recorders().forEach(each -> each.copyTo(events));
        events.sort(Comparator.comparing(TraceEvent::time));
        return List.copyOf(events);
    }

    @Override
    public void clear() {
        synchronized (TraceRecorder.LOCK) {
            recorders().forEach(TraceRecorder::clear);
        }
    }

    private List<TraceRecorder> recorders() {
        return loops.get().stream().map(loop -> Loop.of(loop).trace).toList();
    }
}
