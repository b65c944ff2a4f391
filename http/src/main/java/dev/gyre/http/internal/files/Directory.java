package dev.gyre.http.internal.files;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.coding.AcceptEncoding;
import dev.gyre.http.internal.files.FileLoader.Failed;
import dev.gyre.http.internal.files.FileLoader.Listing;
import dev.gyre.http.internal.files.FileLoader.Result;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;

/// Serves the files of a directory. Cached files are sent at once. Others are looked up on another
/// thread. Concurrent requests for the same file share one lookup.
///
/// Loop thread only.
public final class Directory {
    private static final int MAX_CACHE_CONTROL = 1_024;

    /// The depth of files that are not requested by path.
    private static final int NO_DEPTH = -1;

    private static final Result OVERLOADED = new Failed(503);

    /// A file that changes during each of these lookups is sent without validators.
    private static final int MAX_LOOKUPS = 3;

    private static final Duration MAX_REVALIDATE_AFTER = Duration.ofDays(36_500);

    private final FileCache cache;
    private final EventLoop loop;
    private final FilesConfig config;
    private final FileLoader loader;
    private final FileResponder responder;
    private final int depth;
    private final long revalidateNanos;
    private final Map<FileCache.Key, Lookup> lookups = new HashMap<>();

    /// A lookup in progress.
    private record Lookup(int maxGzipBytes, Promise<Result> result) {}

    /// A request that needs a lookup.
    private record Pending(FileCache.Key key, RequestedPath path, int maxGzipBytes) {}

    private Directory(FileCache cache, Path root, FilesConfig config, int depth) {
        this.cache = cache;
        this.config = config;
        this.depth = depth;
        loader = new FileLoader(root, config, depth == 0);
        loop = cache.loop();
        responder = new FileResponder(cache);
        Duration after = config.revalidateAfter();
        revalidateNanos =
                (after.compareTo(MAX_REVALIDATE_AFTER) > 0 ? MAX_REVALIDATE_AFTER : after)
                        .toNanos();
    }

    /// Serves the files below a directory.
    ///
    /// @param depth the number of path segments before the directory's own names
    /// @throws IllegalArgumentException if the directory does not exist
    public static Directory of(FileCache cache, Path directory, FilesConfig config, int depth) {
        Path real;
        try {
            real = directory.toRealPath();
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "directory " + directory + " does not exist: create it, or pass another", e);
        }
        if (!Files.isDirectory(real)) {
            throw new IllegalArgumentException(
                    directory + " is not a directory: pass its parent directory");
        }
        if (config.cacheControl().length() > MAX_CACHE_CONTROL
                || config.cacheControl().chars().anyMatch(c -> c < ' ' || c > '~')) {
            throw new IllegalArgumentException(
                    "cacheControl must be one line of at most "
                            + MAX_CACHE_CONTROL
                            + " ASCII characters");
        }
        // If links are followed, the directory itself may be a link that is switched later.
        Path root = config.symlinks() ? directory.toAbsolutePath().normalize() : real;
        return new Directory(cache, root, config, depth);
    }

    /// Serves any file by a path of the program, never of a client.
    public static Directory everywhere(FileCache cache) {
        FilesConfig all = FilesConfig.DEFAULT.withHidden(true).withSymlinks(true).withIndex("");
        return new Directory(cache, Path.of("/"), all, NO_DEPTH);
    }

    // ------------------------------------------------------------------ responding

    /// Responds with the file at the requested path.
    public Promise<?> respond(FileExchange exchange) {
        String relative = relative(exchange.path(), depth);
        return relative == null ? redirect(exchange) : respond(exchange, relative, null);
    }

    /// Responds with a certain file.
    ///
    /// @param file absolute
    public Promise<?> respond(FileExchange exchange, Path file) {
        return respond(exchange, file.toString(), file);
    }

    private Promise<?> respond(FileExchange exchange, String raw, @Nullable Path file) {
        boolean gzip = config.compression() && acceptsGzip(exchange);
        RequestedPath requested = null;
        String name = raw;
        if (file == null && raw.indexOf('%') >= 0) {
            // All encodings of a path share one key.
            requested = parse(exchange, raw);
            name = requested.decoded();
        }
        FileCache.Key key = new FileCache.Key(this, name);
        CachedFile cached = cache.get(key);
        // HEAD compresses too: only then are its length and tag those of GET.
        int maxGzipBytes = gzip ? cache.maxGzipBytes() : 0;
        if (cached != null
                && loop.nowNanos() - cached.checkedNanos < revalidateNanos
                && !needsCompression(cached, maxGzipBytes)
                && cached.isUnmodified()) {
            return responder.respond(exchange, cached, gzip);
        }
        if (requested == null) {
            requested = file == null ? parse(exchange, name) : parse(file);
        }
        return lookup(new Pending(key, requested, maxGzipBytes), cached, MAX_LOOKUPS)
                .thenAccept(
                        result -> {
                            if (!exchange.isEnded()) {
                                Promise<?> _ = respond(exchange, result, gzip);
                            }
                        });
    }

    /// Returns whether the client accepts gzip and the handler has set neither an encoding nor
    /// status 206.
    private static boolean acceptsGzip(FileExchange exchange) {
        return AcceptEncoding.acceptsGzip(exchange.request().headers())
                && exchange.response().header("Content-Encoding") == null
                && exchange.response().status() != 206;
    }

    private static boolean needsCompression(CachedFile file, int maxGzipBytes) {
        return file.canCompress && file.plain.length() <= maxGzipBytes;
    }

    private Promise<?> respond(FileExchange exchange, Result result, boolean gzip) {
        // No type switch: the JDK generates a class for it at startup.
        if (result instanceof CachedFile file) {
            return responder.respond(exchange, file, gzip);
        }
        if (result instanceof Listing listing) {
            if (!config.cacheControl().isEmpty()) {
                exchange.response().header("Cache-Control", config.cacheControl());
            }
            return exchange.response()
                    .header("X-Content-Type-Options", "nosniff")
                    .html(listing.page());
        }
        if (result instanceof Failed failed) {
            throw failure(exchange, failed.status());
        }
        if (depth == NO_DEPTH) {
            throw failure(exchange, 404);
        }
        return redirect(exchange);
    }

    private static Promise<?> redirect(FileExchange exchange) {
        String query = exchange.request().query();
        String slash = exchange.path() + "/";
        return exchange.response().redirect(301, query == null ? slash : slash + "?" + query);
    }

    private HttpException failure(FileExchange exchange, int status) {
        if (status == 503) {
            cache.countRejected();
        }
        return switch (status) {
            case 403 -> new HttpException(403, "access to the file is denied");
            case 503 -> new HttpException(503, "too many files are open; retry later");
            default -> new HttpException(404, "no resource at " + exchange.path());
        };
    }

    // ------------------------------------------------------------------ lookups

    /// Looks up a file, and again if it was modified meanwhile.
    private Promise<Result> lookup(Pending pending, @Nullable CachedFile cached, int tries) {
        return lookup(pending, cached)
                .thenCompose(
                        result -> {
                            if (tries > 1
                                    && result instanceof CachedFile file
                                    && !file.isUnmodified()) {
                                return lookup(pending, file, tries - 1);
                            }
                            if (tries > 1
                                    && result instanceof Failed failed
                                    && failed.status() == 503
                                    && cache.releaseDescriptors()) {
                                return lookup(pending, null, tries - 1);
                            }
                            return Promise.resolved(loop, result);
                        });
    }

    private Promise<Result> lookup(Pending pending, @Nullable CachedFile cached) {
        FileCache.Key key = pending.key;
        Lookup running = lookups.get(key);
        if (running != null && running.maxGzipBytes >= pending.maxGzipBytes) {
            return running.result;
        }
        boolean reload = cached == null || needsCompression(cached, pending.maxGzipBytes);
        if (cached != null) {
            cached.retain(); // The cache may evict it meanwhile.
        }
        // A lookup that compresses replaces a running one that does not.
        @Nullable Lookup[] own = new @Nullable Lookup[1];
        Promise<Result> result =
                loop.<Result>promisify(
                                cache.executor(),
                                _ ->
                                        !reload && cached != null && loader.isCurrent(cached)
                                                ? cached
                                                : loader.load(pending.path, pending.maxGzipBytes))
                        .then(found -> onFound(key, cached, found))
                        .recover(
                                RejectedExecutionException.class,
                                // A stale file is better than an error.
                                _ -> cached != null ? cached : OVERLOADED)
                        .finallyRun(
                                () -> {
                                    lookups.remove(key, own[0]);
                                    if (cached != null) {
                                        // After the reactions of those who wait for the result.
                                        loop.defer(() -> cache.release(cached));
                                    }
                                });
        own[0] = new Lookup(pending.maxGzipBytes, result);
        lookups.put(key, own[0]);
        return result;
    }

    private Result onFound(FileCache.Key key, @Nullable CachedFile cached, Result found) {
        if (found == cached && cached != null) {
            cached.checkedNanos = loop.nowNanos();
        } else if (found instanceof CachedFile file) {
            file.retain(); // Until the waiting requests have used it.
            loop.defer(() -> cache.release(file));
            cache.put(key, file);
        } else {
            cache.remove(key);
        }
        return found;
    }

    // ------------------------------------------------------------------ paths

    /// Returns the path after the first `depth` segments; `null` for the directory itself without a
    /// trailing slash.
    private static @Nullable String relative(String path, int depth) {
        int at = 0;
        for (int i = 0; i <= depth; i++) {
            int slash = path.indexOf('/', at);
            if (slash < 0) {
                return null;
            }
            at = slash + 1;
        }
        return path.substring(at);
    }

    private RequestedPath parse(FileExchange exchange, String raw) {
        RequestedPath path = RequestedPath.of(raw, config.hidden(), depth == 0);
        if (path == null) {
            throw failure(exchange, 404);
        }
        return path;
    }

    private static RequestedPath parse(Path file) {
        List<String> names = new ArrayList<>();
        file.forEach(name -> names.add(name.toString()));
        return new RequestedPath(names, false);
    }
}
