package dev.gyre.http.internal.body;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.FormData;
import dev.gyre.http.HttpException;
import dev.gyre.http.MultipartConfig;
import dev.gyre.http.Part;
import dev.gyre.http.internal.memory.ByteAccumulator;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.http.internal.message.Texts;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/// Reads a multipart body: collects its text parts, and passes its files to a function, one at a
/// time.
///
/// While a file is not read, or its promise is pending after its end, the body is paused. The rest
/// of the buffer that was being parsed is copied and parsed later.
///
/// Loop thread only.
final class MultipartReader implements MultipartParser.Handler {
    private final Body body;
    private final EventLoop loop;
    private final HeapBudget heap;
    private final MultipartConfig config;
    private final Function<? super Part, ? extends Promise<?>> files;
    private final MultipartParser parser;
    private final Deferred<FormData> result;
    private final FormValues form = new FormValues();
    private final ByteAccumulator text;
    private final List<ByteAccumulator> accumulators = new ArrayList<>();

    // Loop thread only.
    private @Nullable PartHead head;
    private @Nullable FilePart file;
    private final List<FileSink> sinks = new ArrayList<>();
    private @Nullable Buffer held;
    private boolean parsing;
    private boolean paused;
    private boolean bodyEnded;
    private boolean done;

    /// The size of the text in the form.
    private long textBytes;

    MultipartReader(
            Body body,
            DecodedBody.Context context,
            byte[] boundary,
            MultipartConfig config,
            Function<? super Part, ? extends Promise<?>> files) {
        this.body = body;
        loop = context.loop();
        heap = context.heap();
        this.config = config;
        this.files = files;
        parser = new MultipartParser(boundary, config, this);
        result = loop.deferred();
        text = newAccumulator(config.maxTextBytes());
    }

    Promise<FormData> result() {
        return result.promise();
    }

    EventLoop loop() {
        return loop;
    }

    HeapBudget heap() {
        return heap;
    }

    // ------------------------------------------------------------------ memory

    /// Collects data of a part.
    ///
    /// @param name of the field, for messages
    /// @throws HttpException 413 above the limit, 503 if the loop's budget is used up
    static void collect(Buffer data, ByteAccumulator into, String name, long limit) {
        if (!into.fits(data.readable())) {
            throw tooLong(name, limit);
        }
        if (!into.append(data, data.readable())) {
            throw noMemory();
        }
    }

    static HttpException tooLong(String name, long limit) {
        return new HttpException(
                413, "field " + Texts.shown(name) + ": more than " + limit + " bytes");
    }

    /// Decodes collected text.
    ///
    /// @throws HttpException 400 if it is not UTF-8
    static String textOf(ByteAccumulator bytes, String name) {
        String value = Texts.utf8(ByteBuffer.wrap(bytes.array(), 0, bytes.size()));
        if (value == null) {
            throw FormValues.failure(name, "the value is not UTF-8");
        }
        return value;
    }

    /// Returns an accumulator whose memory is released when the request ends.
    ByteAccumulator newAccumulator(long limit) {
        ByteAccumulator made = new ByteAccumulator(heap, -1, limit);
        accumulators.add(made);
        return made;
    }

    /// Called when the request has ended, so its values are no longer in use. Nothing is acquired
    /// after it: an upload in progress fails.
    void requestEnded() {
        if (!done) {
            bodyFailed(DecodedBody.requestEndedBefore());
        }
        accumulators.forEach(ByteAccumulator::release);
        accumulators.clear();
        heap.release(textBytes);
        textBytes = 0;
    }

    static HttpException noMemory() {
        return new HttpException(503, "no memory for the body at present: retry later");
    }

    // ------------------------------------------------------------------ the body

    /// Called for data of the body.
    void bodyData(Buffer data) {
        if (done) {
            return;
        }
        parse(data);
        if (!done && data.readable() > 0) {
            Buffer rest = Buffer.tryAcquire(loop, data.readable());
            if (rest == null) {
                fail(noMemory());
            } else {
                held = rest.put(data);
            }
        }
        if (!done && room() == 0) {
            pause();
        }
    }

    private void pause() {
        if (!paused) {
            paused = true;
            body.pause();
        }
    }

    /// Called when all of the body has arrived.
    void bodyEnd() {
        bodyEnded = true;
        advance();
    }

    /// Continues, unless a file is not read or its promise is pending.
    void advance() {
        if (parsing || done || room() == 0) {
            return;
        }
        Buffer rest = held;
        if (rest != null) {
            parse(rest);
            if (done || rest.readable() > 0) {
                return;
            }
            releaseHeld();
        }
        if (room() == 0) {
            return;
        }
        if (bodyEnded) {
            finish();
        } else if (paused) {
            paused = false;
            body.resume();
        }
    }

    private void parse(Buffer data) {
        Throwable failure = null;
        parsing = true;
        try {
            parser.parse(data);
        } catch (Throwable e) { // Includes failures of user callbacks.
            failure = e;
        }
        parsing = false;
        if (failure != null) {
            fail(failure);
        }
        if (done) {
            releaseHeld();
        }
    }

    private void releaseHeld() {
        Buffer rest = held;
        if (rest != null) {
            held = null;
            rest.release();
        }
    }

    private void finish() {
        try {
            parser.end();
        } catch (HttpException e) {
            fail(e);
            return;
        }
        done = true;
        sinks.forEach(FileSink::keep);
        result.resolve(form);
    }

    /// Ends the upload because of its data, or because a file cannot be handled. The rest of the
    /// body stays unread.
    void fail(Throwable reason) {
        if (!done && !bodyEnded) {
            pause();
        }
        bodyFailed(reason);
    }

    /// Ends the upload. Rejects the promises once its files are deleted.
    void bodyFailed(Throwable reason) {
        if (done) {
            return;
        }
        done = true;
        if (!parsing) {
            releaseHeld();
        }
        FilePart open = file;
        if (open != null) {
            open.fail(reason);
        }
        if (sinks.isEmpty()) {
            result.reject(reason);
            return;
        }
        deleteFiles()
                .finallyRun(
                        () -> {
                            sinks.forEach(sink -> sink.reject(reason));
                            result.reject(reason);
                        });
    }

    private Promise<?> deleteFiles() {
        List<FileSink> all = List.copyOf(sinks);
        return loop.promisify(
                        _ -> {
                            all.forEach(FileSink::close);
                            return all;
                        })
                .recover(
                        _ -> {
                            // The executor is full. Files are never deleted by the loop.
                            Thread.startVirtualThread(() -> all.forEach(FileSink::close));
                            return all;
                        });
    }

    FileSink newSink(Path directory, @Nullable String fileName) {
        FileSink sink = new FileSink(this, directory, fileName);
        sinks.add(sink);
        return sink;
    }

    // ------------------------------------------------------------------ parts

    @Override
    public int room() {
        FilePart open = file;
        return open == null ? Integer.MAX_VALUE : open.room();
    }

    @Override
    public void partBegin(PartHead head) {
        requireInProgress();
        this.head = head;
        String fileName = head.fileName();
        if (fileName == null) {
            requireUtf8(head);
        } else if (!fileName.isEmpty()) {
            beginFile(head);
        }
    }

    /// Stops the parser if a callback of the user has ended the request.
    private void requireInProgress() {
        if (done) {
            throw DecodedBody.requestEndedBefore();
        }
    }

    private static void requireUtf8(PartHead head) {
        String type = head.headers().get("Content-Type");
        HeaderParameters parsed = type == null ? null : HeaderParameters.parse(type);
        if (type != null && (parsed == null || !parsed.isUtf8())) {
            throw new HttpException(
                    415,
                    "field %s: expected text in UTF-8, not %s"
                            .formatted(Texts.shown(head.name()), Texts.shown(type)));
        }
    }

    private void beginFile(PartHead head) {
        FilePart part = new FilePart(this, head, config.maxFileBytes());
        file = part;
        Promise<?> promise = files.apply(part);
        if (promise == null) {
            throw new IllegalStateException(
                    "the function for files returned null: return the promise of saveTo(…), or"
                            + " another one");
        }
        onThisLoop(promise)
                .then(
                        _ -> {
                            part.handled();
                            return part;
                        },
                        reason -> {
                            fail(reason);
                            return part;
                        });
    }

    /// Transfers the outcome of another loop's promise to this loop.
    @SuppressWarnings("ReferenceEquality") // A loop is only itself.
    private Promise<?> onThisLoop(Promise<?> promise) {
        return promise.loop() == loop ? promise : Promise.from(loop, promise.toFuture());
    }

    @Override
    public void partData(Buffer data) {
        requireInProgress();
        FilePart open = file;
        PartHead known = Objects.requireNonNull(head);
        if (open != null) {
            open.data(data);
        } else if (known.fileName() == null) {
            collect(data, text, known.name(), config.maxTextBytes());
        } else {
            throw FormValues.failure(known.name(), "a file has data but no name");
        }
    }

    @Override
    public void partEnd() {
        requireInProgress();
        FilePart open = file;
        PartHead known = Objects.requireNonNull(head);
        if (open != null) {
            open.end();
            changed();
        } else if (known.fileName() == null) {
            addText(known.name());
        } // Else a form without a chosen file.
    }

    private void addText(String name) {
        form.add(name, textOf(text, name));
        int size = text.size();
        text.release();
        if (!heap.tryAcquire(size)) {
            throw noMemory();
        }
        textBytes += size;
    }

    /// Called when a file has ended, or its promises are settled.
    void changed() {
        FilePart open = file;
        if (open != null && open.isSettled()) {
            file = null;
        }
        advance();
    }
}
