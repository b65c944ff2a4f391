package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.Handler;
import dev.gyre.http.internal.files.Directory;
import dev.gyre.http.internal.files.FileCache;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// Serves files: directories that have routes, and single files that handlers send. All of a
/// server's files share one cache, which is created with the first of them.
///
/// Loop thread only.
final class StaticFiles {
    private final EventLoop loop;
    private @Nullable FileCache cache;

    /// The root for files that handlers send.
    private @Nullable Directory everywhere;

    StaticFiles(EventLoop loop) {
        this.loop = loop;
    }

    private FileCache cache() {
        FileCache known = cache;
        if (known == null) {
            known = new FileCache(loop);
            cache = known;
        }
        return known;
    }

    /// Returns a handler that serves a directory.
    ///
    /// @param prefix the path that maps to the directory, without a slash at its end
    Handler directory(String prefix, Path directory, FilesConfig config) {
        int depth = (int) prefix.chars().filter(c -> c == '/').count();
        Directory served = Directory.of(cache(), directory, config, depth);
        return (request, response) ->
                served.respond(
                        new ServerFileExchange(
                                ((ServerRequest) request).exchange(), (ServerResponse) response));
    }

    /// Sends one file as the response.
    Promise<?> send(Exchange exchange, ServerResponse response, Path file) {
        if (exchange.isLost()) {
            return exchange.context.done;
        }
        Directory all = everywhere;
        if (all == null) {
            all = Directory.everywhere(cache());
            everywhere = all;
        }
        return all.respond(new ServerFileExchange(exchange, response), file.toAbsolutePath());
    }

    /// Returns how many requests for files failed with 503. Any thread.
    long rejected() {
        FileCache known = cache;
        return known == null ? 0 : known.rejected();
    }

    void close() {
        FileCache known = cache;
        if (known != null) {
            cache = null;
            known.close();
            loop.disown(known);
        }
    }
}
