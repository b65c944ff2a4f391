package dev.gyre.http.internal.body;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.Part;
import dev.gyre.http.internal.memory.ByteAccumulator;
import dev.gyre.http.internal.message.Texts;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;

/// A file of a multipart body.
///
/// Loop thread only.
public final class FilePart implements Part {
    private final MultipartReader reader;
    private final PartHead head;
    private final long maxBytes;

    // Loop thread only.
    private long size;
    private @Nullable Consumer<? super Buffer> onData;
    private @Nullable Runnable onEnd;
    private @Nullable Consumer<? super Throwable> onFailure;
    private @Nullable FileSink sink;
    private @Nullable Throwable failure;

    /// Whether the user's promise is resolved.
    private boolean handled;

    private boolean paused;
    private boolean ended;

    FilePart(MultipartReader reader, PartHead head, long maxBytes) {
        this.reader = reader;
        this.head = head;
        this.maxBytes = maxBytes;
    }

    // ------------------------------------------------------------------ for the reader

    /// Returns how many bytes [#data] accepts now.
    int room() {
        if (ended) {
            return 0; // The next part waits until this one is settled.
        }
        if (sink != null) {
            return sink.room();
        }
        boolean flows = onData == null ? handled : !paused;
        return flows ? Integer.MAX_VALUE : 0;
    }

    void data(Buffer data) {
        size += data.readable();
        if (size > maxBytes) {
            throw MultipartReader.tooLong(name(), maxBytes);
        }
        if (sink != null) {
            sink.add(data);
        } else if (onData != null) {
            onData.accept(data);
        }
    }

    void end() {
        ended = true;
        if (sink != null) {
            sink.end();
        } else if (onData != null && onEnd != null) {
            onEnd.run();
        }
    }

    /// Called when the user's promise is resolved.
    void handled() {
        handled = true;
        reader.changed();
    }

    /// Whether the next part can begin.
    boolean isSettled() {
        return ended && handled && (sink == null || sink.isSettled());
    }

    /// Called when the upload has failed.
    void fail(Throwable reason) {
        failure = reason;
        Consumer<? super Throwable> callback = onFailure;
        if (!ended && callback != null) {
            try {
                callback.accept(reason);
            } catch (RuntimeException e) {
                System.getLogger("dev.gyre.http")
                        .log(
                                System.Logger.Level.WARNING,
                                "the onFailure callback of part " + Texts.shown(name()) + " threw",
                                e);
            }
        }
    }

    // ------------------------------------------------------------------ for users

    @Override
    public String name() {
        return head.name();
    }

    @Override
    public String fileName() {
        return head.safeFileName();
    }

    @Override
    public @Nullable String contentType() {
        return head.headers().get("Content-Type");
    }

    @Override
    public Headers headers() {
        return head.headers();
    }

    @Override
    public long size() {
        return size;
    }

    private void requireUnread() {
        if (onData != null || sink != null) {
            throw new IllegalStateException("the part is read already");
        }
        if (ended || (handled && failure == null)) {
            throw new IllegalStateException(
                    "the part was skipped: read it before the promise for it is resolved");
        }
    }

    @Override
    public Promise<byte[]> bytes() {
        return collect(ByteAccumulator::toByteArray);
    }

    @Override
    public Promise<String> text() {
        return collect(bytes -> MultipartReader.textOf(bytes, name()));
    }

    private <T> Promise<T> collect(Promise.Handler<ByteAccumulator, T> outcome) {
        requireUnread();
        if (onEnd != null || onFailure != null) {
            throw new IllegalStateException(
                    "onEnd and onFailure are for onData: use the promise instead");
        }
        long limit = Math.min(maxBytes, Integer.MAX_VALUE - 8);
        ByteAccumulator collected = reader.newAccumulator(limit);
        Deferred<ByteAccumulator> all = reader.loop().deferred();
        onEnd = () -> all.resolve(collected);
        onFailure = all::reject;
        onData(data -> MultipartReader.collect(data, collected, name(), limit));
        return all.promise().then(outcome);
    }

    @Override
    public Promise<Path> saveTo(Path directory) {
        return save(directory, null);
    }

    @Override
    public Promise<Path> saveTo(Path directory, String fileName) {
        boolean plain =
                !fileName.isEmpty()
                        && !fileName.equals(".")
                        && !fileName.equals("..")
                        && fileName.chars().noneMatch(c -> c == '/' || c == '\\' || c == 0);
        if (!plain) {
            throw new IllegalArgumentException(
                    "a file name without directories is expected, such as Part.fileName(), not "
                            + Texts.shown(fileName));
        }
        try {
            Path _ = directory.resolve(fileName);
        } catch (InvalidPathException e) {
            throw new HttpException(
                    400,
                    "field %s: the server cannot store a file named %s"
                            .formatted(Texts.shown(name()), Texts.shown(fileName)),
                    e);
        }
        return save(directory, fileName);
    }

    private Promise<Path> save(Path directory, @Nullable String fileName) {
        Objects.requireNonNull(directory, "directory");
        requireUnread();
        Throwable known = failure;
        if (known != null) {
            return Promise.rejected(reader.loop(), known);
        }
        FileSink made = reader.newSink(directory, fileName);
        sink = made;
        reader.advance();
        return made.result();
    }

    @Override
    public Part onData(Consumer<? super Buffer> callback) {
        Objects.requireNonNull(callback, "callback");
        requireUnread();
        onData = callback;
        Throwable known = failure;
        if (known != null) {
            fail(known);
        } else {
            reader.advance();
        }
        return this;
    }

    @Override
    public Part onEnd(Runnable callback) {
        requireUnread();
        onEnd = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public Part onFailure(Consumer<? super Throwable> callback) {
        requireUnread();
        onFailure = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public void pause() {
        paused = true;
    }

    @Override
    public void resume() {
        paused = false;
        reader.advance();
    }

    @Override
    public String toString() {
        return "Part[" + name() + ", " + fileName() + "]";
    }
}
