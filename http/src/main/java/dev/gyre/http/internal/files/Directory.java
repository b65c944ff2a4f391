package dev.gyre.http.internal.files;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.coding.AcceptEncoding;

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

/// A directory whose files are served. What was found lately is answered at once; for the rest somebody else looks at
/// the disk, one for all that ask for the same.
///
/// Loop thread only.
public final class Directory {
    private static final int MOST_CACHE_CONTROL = 1_024;

    /// The depth of files that are not served by their path.
    private static final int NO_PLACE = -1;

    private static final Found TOO_MANY = new Found.Nothing(503);

    /// A file that is written to whenever it is looked at is sent as it is: nothing that is said of it is relied on.
    private static final int MOST_LOOKS = 3;

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final FileCache cache;
    private final EventLoop loop;
    private final FilesConfig config;
    private final FileLoader loader;
    private final FileAnswer answer;
    private final int depth;
    private final long freshNanos;
    private final Map<FileCache.Key, Search> searches = new HashMap<>();

    /// A look at the disk that is under way.
    ///
    /// @param mostToCompress how large what it compresses may be
    private record Search(int mostToCompress, Promise<Found> outcome) {}

    private Directory(FileCache cache, Path root, FilesConfig config, int depth) {
        this(cache, new FileLoader(root, config, depth == 0), config, depth);
    }

    Directory(FileCache cache, FileLoader loader, FilesConfig config, int depth) {
        this.cache = cache;
        this.config = config;
        this.depth = depth;
        this.loader = loader;
        loop = cache.loop();
        answer = new FileAnswer(cache);
        freshNanos =
                config.fresh().compareTo(LONGEST) > 0
                        ? LONGEST.toNanos()
                        : config.fresh().toNanos();
    }

    /// The files below a directory.
    ///
    /// @param depth how many segments of a path stand for the directory
    /// @throws IllegalArgumentException if there is no such directory
    public static Directory of(FileCache cache, Path directory, FilesConfig config, int depth) {
        Path real;
        try {
            real = directory.toRealPath();
        } catch (IOException e) {
            throw new IllegalArgumentException("there is no directory " + directory, e);
        }
        if (!Files.isDirectory(real)) {
            throw new IllegalArgumentException("that is no directory: " + directory);
        }
        if (config.cacheControl().length() > MOST_CACHE_CONTROL
                || config.cacheControl().chars().anyMatch(c -> c < ' ' || c > '~')) {
            throw new IllegalArgumentException(
                    "cacheControl is one line of at most " + MOST_CACHE_CONTROL + " characters");
        }
        // Where links are followed, that of the directory itself may be changed to another one,
        // too.
        Path root = config.symlinks() ? directory.toAbsolutePath().normalize() : real;
        return new Directory(cache, root, config, depth);
    }

    /// Stands for all files, with paths that are the program's own and not a peer's.
    public static Directory everywhere(FileCache cache) {
        FilesConfig all = FilesConfig.DEFAULT.withHidden(true).withSymlinks(true).withIndex("");
        return new Directory(cache, Path.of("/"), all, NO_PLACE);
    }

    // ------------------------------------------------------------------ answering

    /// Answers with what a request names.
    public Promise<?> answer(FileExchange exchange) {
        String below = below(exchange.path(), depth);
        return below == null ? redirect(exchange) : answer(exchange, below, null);
    }

    /// Answers with a certain file.
    ///
    /// @param file absolute
    public Promise<?> answer(FileExchange exchange, Path file) {
        return answer(exchange, file.toString(), file);
    }

    private Promise<?> answer(FileExchange exchange, String sent, @Nullable Path file) {
        boolean gzip = config.compression() && mayBeGzip(exchange);
        RequestedPath requested = null;
        String name = sent;
        if (file == null && sent.indexOf('%') >= 0) {
            // One file, one key, in how many ways it may be written.
            requested = require(exchange, requested(sent));
            name = requested.decoded();
        }
        FileCache.Key key = new FileCache.Key(this, name);
        CachedFile known = cache.get(key);
        // Also for a head alone: what it says of length and tag has to be what GET then sends, and
        // whether gzip gains anything is known only when it is done. What is made is kept for that.
        int mostToCompress = gzip ? cache.mostToCompress() : 0;
        if (known != null
                && loop.nowNanos() - known.checkedNanos < freshNanos
                && !shrinks(known, mostToCompress)
                && known.isUntouched()) {
            return answer.with(exchange, known, gzip);
        }
        if (requested == null) {
            requested = require(exchange, file == null ? requested(name) : of(file));
        }
        Asked asked = new Asked(exchange, key, requested, gzip, mostToCompress);
        return found(asked, known, MOST_LOOKS)
                .thenAccept(
                        found -> {
                            if (!exchange.isOver()) {
                                Promise<?> _ = answer(exchange, found, gzip);
                            }
                        });
    }

    /// Whether the peer takes gzip, and nothing that a handler has set speaks against it: what is encoded already, or
    /// is said to be a part of something, is sent as it is.
    private static boolean mayBeGzip(FileExchange exchange) {
        return AcceptEncoding.takesGzip(exchange.request().headers())
                && exchange.response().header("Content-Encoding") == null
                && exchange.response().status() != 206;
    }

    /// What is looked for, and who wants it how.
    private record Asked(
            FileExchange exchange,
            FileCache.Key key,
            RequestedPath path,
            boolean gzip,
            int mostToCompress) {}

    private static boolean shrinks(CachedFile known, int mostToCompress) {
        return known.untried && known.plain.length() <= mostToCompress;
    }

    private @Nullable RequestedPath requested(String sent) {
        return RequestedPath.of(sent, config.hidden(), depth == 0);
    }

    private Promise<?> answer(FileExchange exchange, Found found, boolean gzip) {
        // No switch over types, for which the JDK makes a class at every start.
        if (found instanceof CachedFile file) {
            return answer.with(exchange, file, gzip);
        }
        if (found instanceof Found.Listed listed) {
            if (!config.cacheControl().isEmpty()) {
                exchange.response().header("Cache-Control", config.cacheControl());
            }
            return exchange.response()
                    .header("X-Content-Type-Options", "nosniff")
                    .html(listed.page());
        }
        if (found instanceof Found.Nothing nothing) {
            throw nothing(exchange, nothing.status());
        }
        if (depth == NO_PLACE) {
            throw nothing(exchange, 404);
        }
        return redirect(exchange);
    }

    private RequestedPath require(FileExchange exchange, @Nullable RequestedPath requested) {
        if (requested == null) {
            throw nothing(exchange, 404);
        }
        return requested;
    }

    private static Promise<?> redirect(FileExchange exchange) {
        String query = exchange.request().query();
        String slash = exchange.path() + "/";
        return exchange.response().redirect(301, query == null ? slash : slash + "?" + query);
    }

    private HttpException nothing(FileExchange exchange, int status) {
        if (status == 503) {
            cache.refused();
        }
        return switch (status) {
            case 403 -> new HttpException(403, "that may not be read");
            case 503 -> new HttpException(503, "there is no room for more files just now");
            default -> new HttpException(404, "there is nothing at " + exchange.path());
        };
    }

    // ------------------------------------------------------------------ searching

    /// Looks again if somebody has written to it since it was looked at: what is known of it is not what would be
    /// sent.
    private Promise<Found> found(Asked asked, @Nullable CachedFile known, int looks) {
        return search(asked, known)
                .thenCompose(
                        found -> {
                            if (looks > 1
                                    && found instanceof CachedFile file
                                    && !file.isUntouched()) {
                                return found(asked, file, looks - 1);
                            }
                            if (looks > 1
                                    && found instanceof Found.Nothing nothing
                                    && nothing.status() == 503
                                    && cache.releaseDescriptors()) {
                                return found(asked, null, looks - 1);
                            }
                            Deferred<Found> done = loop.deferred();
                            done.resolve(found);
                            return done.promise();
                        });
    }

    private Promise<Found> search(Asked asked, @Nullable CachedFile known) {
        FileCache.Key key = asked.key;
        Search search = searches.get(key);
        if (search != null && search.mostToCompress >= asked.mostToCompress) {
            return search.outcome;
        }
        boolean again = known == null || shrinks(known, asked.mostToCompress);
        if (known != null) {
            known.retain(); // It may be thrown out meanwhile.
        }
        // One that also compresses may take the place of one that does not.
        @Nullable Search[] mine = new @Nullable Search[1];
        Promise<Found> outcome =
                loop.<Found>promisify(
                                cache.lookers(),
                                _ ->
                                        !again && known != null && loader.isCurrent(known)
                                                ? known
                                                : loader.load(asked.path, asked.mostToCompress))
                        .then(found -> arrived(key, known, found))
                        .recover(
                                RejectedExecutionException.class,
                                // What is known may be old; nothing at all is worse.
                                _ -> known != null ? known : TOO_MANY)
                        .finallyRun(
                                () -> {
                                    searches.remove(key, mine[0]);
                                    if (known != null) {
                                        // Behind those who wait for it.
                                        loop.defer(() -> cache.letGo(known));
                                    }
                                });
        mine[0] = new Search(asked.mostToCompress, outcome);
        searches.put(key, mine[0]);
        return outcome;
    }

    private Found arrived(FileCache.Key key, @Nullable CachedFile known, Found found) {
        if (found == known && known != null) {
            known.checkedNanos = loop.nowNanos();
        } else if (found instanceof CachedFile file) {
            file.retain(); // By those who wait for it.
            loop.defer(() -> cache.letGo(file));
            cache.put(key, file);
        } else {
            cache.remove(key);
        }
        return found;
    }

    // ------------------------------------------------------------------ paths

    /// What is behind the first segments; null for the directory itself without a slash at the end.
    private static @Nullable String below(String path, int depth) {
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

    private static RequestedPath of(Path file) {
        List<String> names = new ArrayList<>();
        for (Path name : file) {
            names.add(name.toString());
        }
        return new RequestedPath(names, false);
    }
}
