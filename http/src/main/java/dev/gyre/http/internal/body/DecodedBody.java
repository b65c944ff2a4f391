package dev.gyre.http.internal.body;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.FormData;
import dev.gyre.http.HttpException;
import dev.gyre.http.JsonException;
import dev.gyre.http.JsonMapper;
import dev.gyre.http.MultipartConfig;
import dev.gyre.http.Part;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.http.internal.message.Texts;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Type;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// A request body that decodes JSON and forms. Subclasses provide the bytes.
public abstract class DecodedBody implements Body {
    private static final String URL_ENCODED = "application/x-www-form-urlencoded";
    private static final String MULTIPART = "multipart/form-data";

    private static final String JSON = "application/json";

    // Loop thread only.
    private @Nullable MultipartReader multipart;
    private boolean released;

    /// What decoding needs of a server.
    ///
    /// @param contentType the request's header; `null` if absent
    public record Context(
            EventLoop loop, HeapBudget heap, JsonMapper mapper, @Nullable String contentType) {}

    /// Returns the context.
    protected abstract Context context();

    /// Checks the thread and the lifetime.
    ///
    /// @param method the method that is called, for messages
    /// @return whether this is the thread of a blocking handler
    protected abstract boolean isOnWorker(String method);

    /// Runs work on the loop thread and waits for it.
    ///
    /// @param method the method that is called, for messages
    protected abstract <T> T onLoop(String method, Supplier<T> work);

    /// Reads the body with callbacks that nothing else can replace. Loop thread.
    ///
    /// @throws IllegalStateException if the body is read already
    protected abstract void claim(
            Consumer<? super Buffer> data, Runnable end, Consumer<? super Throwable> failed);

    /// Releases the memory of decoded parts: the request has ended. Loop thread.
    protected final void releaseDecoded() {
        released = true;
        MultipartReader known = multipart;
        if (known != null) {
            known.requestEnded();
        }
    }

    private static @Nullable HeaderParameters type(Context context) {
        String header = context.contentType();
        return header == null ? null : HeaderParameters.parse(header);
    }

    // ------------------------------------------------------------------ JSON

    @Override
    public final <T> Promise<T> json(Class<T> type) {
        return json((Type) type);
    }

    @Override
    public final <T> Promise<T> json(Type type) {
        Objects.requireNonNull(type, "type");
        boolean onWorker = isOnWorker("Body.json");
        Context context = context();
        HeaderParameters sent = type(context);
        if (sent == null || !isJson(sent.value())) {
            throw unsupported(context, JSON + " or a type that ends in +json");
        }
        if (!sent.isUtf8()) {
            throw unsupported(context, JSON + " in UTF-8");
        }
        JsonMapper mapper = context.mapper();
        Promise<byte[]> bytes = bytes();
        return onWorker
                ? readOnWorker(context, bytes, type)
                : bytes.then(all -> DecodedBody.<T>read(mapper, all, type));
    }

    /// Waits for the body and reads it on this thread: the loop serves other requests meanwhile.
    private <T> Promise<T> readOnWorker(Context context, Promise<byte[]> bytes, Type type) {
        JsonMapper mapper = context.mapper();
        byte[] all;
        try {
            all = bytes.await();
        } catch (InterruptedException | CompletionException e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            return onLoop("Body.json", () -> bytes.then(each -> read(mapper, each, type)));
        }
        try {
            T value = read(mapper, all, type);
            return onLoop("Body.json", () -> Promise.resolved(context.loop(), value));
        } catch (RuntimeException e) {
            return onLoop("Body.json", () -> Promise.rejected(context.loop(), e));
        }
    }

    /// Accepts no other type, and no missing or malformed one: browsers let pages of other sites
    /// send those without permission.
    private static boolean isJson(String type) {
        return type.equals(JSON) || type.endsWith("+json");
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // As JsonMapper.read.
    private static <T> T read(JsonMapper mapper, byte[] bytes, Type type) {
        if (bytes.length == 0) {
            throw new HttpException(400, "JSON body: expected a value, but the body is empty");
        }
        try {
            T value = mapper.read(bytes, type);
            if (value == null) {
                throw new HttpException(400, "JSON body: expected a value, not null");
            }
            return value;
        } catch (JsonException e) {
            throw e.path().isEmpty()
                    ? new HttpException(400, "JSON body: " + e.problem(), e)
                    : FormValues.failure(e.path(), e.problem(), e);
        }
    }

    // ------------------------------------------------------------------ forms

    @Override
    public final Promise<FormData> form() {
        return onLoop(
                "Body.form",
                () -> {
                    Context context = context();
                    HeaderParameters type = type(context);
                    if (type != null && type.value().equals(MULTIPART)) {
                        return multipart(
                                context,
                                type,
                                MultipartConfig.DEFAULT,
                                part -> {
                                    throw FormValues.failure(
                                            part.name(), "expected text, not a file");
                                });
                    }
                    boolean absent = context.contentType() == null && length() == 0;
                    boolean fits =
                            type != null && type.value().equals(URL_ENCODED) && type.isUtf8();
                    if (!absent && !fits) {
                        throw unsupported(context, URL_ENCODED + " in UTF-8, or " + MULTIPART);
                    }
                    int maxFields = MultipartConfig.DEFAULT.maxParts();
                    return bytes().then(bytes -> FormValues.parse(bytes, maxFields));
                });
    }

    @Override
    public final Promise<FormData> multipart(Function<? super Part, ? extends Promise<?>> files) {
        return multipart(MultipartConfig.DEFAULT, files);
    }

    @Override
    public final Promise<FormData> multipart(
            MultipartConfig config, Function<? super Part, ? extends Promise<?>> files) {
        Objects.requireNonNull(config, "config");
        Objects.requireNonNull(files, "files");
        return onLoop(
                "Body.multipart",
                () -> {
                    Context context = context();
                    HeaderParameters type = type(context);
                    if (type == null || !type.value().equals(MULTIPART)) {
                        throw unsupported(context, MULTIPART);
                    }
                    return multipart(context, type, config, files);
                });
    }

    private Promise<FormData> multipart(
            Context context,
            HeaderParameters type,
            MultipartConfig config,
            Function<? super Part, ? extends Promise<?>> files) {
        if (released) {
            throw requestEndedBefore(); // Nothing would release what it acquires.
        }
        byte[] boundary = type.boundary();
        if (boundary == null) {
            throw new HttpException(
                    400, "header Content-Type: expected a boundary of 1 to 70 characters");
        }
        MultipartReader reader = new MultipartReader(this, context, boundary, config, files);
        claim(reader::bodyData, reader::bodyEnd, reader::bodyFailed);
        multipart = reader;
        return reader.result();
    }

    /// Not logged: clients must not fill the log by disconnecting.
    static HttpException requestEndedBefore() {
        return new HttpException(
                400,
                "the request ended before the upload was complete: respond when the promise of the"
                        + " upload is settled");
    }

    private static HttpException unsupported(Context context, String expected) {
        String sent = context.contentType();
        return new HttpException(
                415,
                "header Content-Type: expected %s, %s"
                        .formatted(
                                expected,
                                sent == null
                                        ? "but the header is missing"
                                        : "not " + Texts.shown(sent)));
    }
}
