package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// The events to watch on a descriptor and their callbacks. Immutable: each method returns a copy.
///
/// ```java
/// loop.watch(pipe.reader(), WatchSpec.reading(watcher -> drain(pipe.reader())).edgeTriggered());
/// ```
///
/// The callbacks of one event run in the order error, read, write. Each runs only if the watcher is
/// still registered:
///
/// - **Read** if the descriptor is readable or hung up: a read returns bytes or the end of stream.
/// - **Write** if it is writable.
/// - **Error** if it has an error; then only this one runs. Without an error callback, an error
///   counts as readable and writable, so the next read or write reports it.
///
/// A spec without read and write callbacks reports nothing, not even errors and hang-ups.
///
/// A callback that captures the descriptor, as above, keeps it reachable while it is watched. A
/// callback that uses [Watcher#descriptor()] does not: other code must then hold the descriptor, or
/// the garbage collector closes it.
public final class WatchSpec {
    private static final WatchSpec NOTHING = new WatchSpec(null, null, null, false, false);

    private final @Nullable Consumer<? super Watcher> readCallback;
    private final @Nullable Consumer<? super Watcher> writeCallback;
    private final @Nullable Consumer<? super Watcher> errorCallback;
    private final boolean edgeTriggered;
    private final boolean oneShot;

    private WatchSpec(
            @Nullable Consumer<? super Watcher> reader,
            @Nullable Consumer<? super Watcher> writer,
            @Nullable Consumer<? super Watcher> errorHandler,
            boolean edgeTriggered,
            boolean oneShot) {
        this.readCallback = reader;
        this.writeCallback = writer;
        this.errorCallback = errorHandler;
        this.edgeTriggered = edgeTriggered;
        this.oneShot = oneShot;
    }

    /// Watches for readability.
    public static WatchSpec reading(Consumer<? super Watcher> callback) {
        return NOTHING.onRead(callback);
    }

    /// Watches for writability.
    public static WatchSpec writing(Consumer<? super Watcher> callback) {
        return NOTHING.onWrite(callback);
    }

    /// Watches nothing until [Watcher#modify].
    public static WatchSpec nothing() {
        return NOTHING;
    }

    /// Returns a copy with this read callback.
    public WatchSpec onRead(Consumer<? super Watcher> callback) {
        Objects.requireNonNull(callback, "callback");
        return new WatchSpec(callback, writeCallback, errorCallback, edgeTriggered, oneShot);
    }

    /// Returns a copy with this write callback.
    public WatchSpec onWrite(Consumer<? super Watcher> callback) {
        Objects.requireNonNull(callback, "callback");
        return new WatchSpec(readCallback, callback, errorCallback, edgeTriggered, oneShot);
    }

    /// Returns a copy with this error callback.
    public WatchSpec onError(Consumer<? super Watcher> callback) {
        Objects.requireNonNull(callback, "callback");
        return new WatchSpec(readCallback, writeCallback, callback, edgeTriggered, oneShot);
    }

    /// Returns a copy that reports once per change instead of while the condition lasts. Callbacks
    /// must read or write until the call returns 0: otherwise no further event is reported.
    public WatchSpec edgeTriggered() {
        return new WatchSpec(readCallback, writeCallback, errorCallback, true, oneShot);
    }

    /// Returns a copy that reports one event only. The watcher is disarmed after the callbacks of
    /// that event have run. [Watcher#rearm()], [Watcher#modify] and [EventLoop#watch] arm it again.
    public WatchSpec oneShot() {
        return new WatchSpec(readCallback, writeCallback, errorCallback, edgeTriggered, true);
    }

    /// Returns the read callback; `null` if absent.
    public @Nullable Consumer<? super Watcher> readCallback() {
        return readCallback;
    }

    /// Returns the write callback; `null` if absent.
    public @Nullable Consumer<? super Watcher> writeCallback() {
        return writeCallback;
    }

    /// Returns the error callback; `null` if absent.
    public @Nullable Consumer<? super Watcher> errorCallback() {
        return errorCallback;
    }

    /// Returns whether it reports once per change.
    public boolean isEdgeTriggered() {
        return edgeTriggered;
    }

    /// Returns whether it reports one event only.
    public boolean isOneShot() {
        return oneShot;
    }
}
