package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// What to be told of a descriptor, and how. Immutable: each method returns another one.
///
/// ```java
/// loop.watch(pipe.reader(), Watch.reading(watcher -> drain(pipe.reader())).edgeTriggered());
/// ```
///
/// The callbacks of one event run in the order error, read, write, and each only if the watcher is still
/// there:
///
/// - **Read** when the descriptor is readable or hung up: there are bytes, or there is an end to be found.
/// - **Write** when it is writable.
/// - **Error** when it has an error; then only this one. Without an error callback an error counts as
///   readable and writable, so that the next read or write finds it.
///
/// A watch without a read and a write callback is told nothing, not even of errors and hang-ups.
///
/// A callback that captures the descriptor, as here, keeps it reachable as long as it is watched. One that
/// takes it from [Watcher#descriptor()] does not: then somebody else has to hold it, or it is closed when
/// the garbage collector finds it.
public final class WatchSpec {
    private static final WatchSpec NOTHING = new WatchSpec(null, null, null, false, false);

    private final @Nullable Consumer<? super Watcher> reader;
    private final @Nullable Consumer<? super Watcher> writer;
    private final @Nullable Consumer<? super Watcher> errorHandler;
    private final boolean edgeTriggered;
    private final boolean oneShot;

    private WatchSpec(
            @Nullable Consumer<? super Watcher> reader,
            @Nullable Consumer<? super Watcher> writer,
            @Nullable Consumer<? super Watcher> errorHandler,
            boolean edgeTriggered,
            boolean oneShot) {
        this.reader = reader;
        this.writer = writer;
        this.errorHandler = errorHandler;
        this.edgeTriggered = edgeTriggered;
        this.oneShot = oneShot;
    }

    /// To be told when there is something to read.
    public static WatchSpec reading(Consumer<? super Watcher> callback) {
        return NOTHING.onRead(callback);
    }

    /// To be told when something can be written.
    public static WatchSpec writing(Consumer<? super Watcher> callback) {
        return NOTHING.onWrite(callback);
    }

    /// To be told nothing, for now: see [Watcher#modify].
    public static WatchSpec nothing() {
        return NOTHING;
    }

    /// The same, with this read callback.
    public WatchSpec onRead(Consumer<? super Watcher> callback) {
        Objects.requireNonNull(callback, "callback");
        return new WatchSpec(callback, writer, errorHandler, edgeTriggered, oneShot);
    }

    /// The same, with this write callback.
    public WatchSpec onWrite(Consumer<? super Watcher> callback) {
        Objects.requireNonNull(callback, "callback");
        return new WatchSpec(reader, callback, errorHandler, edgeTriggered, oneShot);
    }

    /// The same, with this error callback.
    public WatchSpec onError(Consumer<? super Watcher> callback) {
        Objects.requireNonNull(callback, "callback");
        return new WatchSpec(reader, writer, callback, edgeTriggered, oneShot);
    }

    /// The same, but told once per change instead of for as long as it lasts. The loop does not drain for
    /// you: read, or write, until it returns 0, or you will not be told again.
    public WatchSpec edgeTriggered() {
        return new WatchSpec(reader, writer, errorHandler, true, oneShot);
    }

    /// The same, but told of one event only. The watcher is disarmed after the callbacks of that event have
    /// run; [Watcher#rearm()], [Watcher#modify] and [EventLoop#watch] arm it again.
    public WatchSpec oneShot() {
        return new WatchSpec(reader, writer, errorHandler, edgeTriggered, true);
    }

    /// The read callback.
    public @Nullable Consumer<? super Watcher> reader() {
        return reader;
    }

    /// The write callback.
    public @Nullable Consumer<? super Watcher> writer() {
        return writer;
    }

    /// The error callback.
    public @Nullable Consumer<? super Watcher> errorHandler() {
        return errorHandler;
    }

    /// Whether it tells once per change.
    public boolean isEdgeTriggered() {
        return edgeTriggered;
    }

    /// Whether it tells of one event only.
    public boolean isOneShot() {
        return oneShot;
    }
}
