package dev.gyre.http;

import java.time.Duration;
import java.util.Objects;

/// Configures how [HttpServer#files] serves a directory. Immutable: each `with` method returns a
/// changed copy.
///
/// ```java
/// var config = FilesConfig.DEFAULT.withListing(true).withCacheControl("max-age=3600");
/// ```
///
/// Files with non-ASCII names need a JVM started in a UTF-8 locale, such as `LC_ALL=C.UTF-8`. In
/// the locales `C` and `POSIX` Java cannot open them; the first request for one logs a warning.
///
/// A file changed within the last two seconds may change again with the same time stamp. It gets a
/// weak `ETag` and no `Last-Modified`, so clients do not combine parts of it (`If-Range`).
///
/// **Threads.** Any.
public final class FilesConfig extends Settings<FilesConfig> {
    /// The default configuration.
    public static final FilesConfig DEFAULT = new FilesConfig();

    private String index = "index.html";
    private boolean listing = false;
    private boolean hidden = false;
    private boolean symlinks = false;
    private boolean compression = true;
    private String cacheControl = "";
    private Duration revalidateAfter = Duration.ofMillis(100);

    private FilesConfig() {}

    /// Returns the name of the file served for a directory; empty for none. Default `index.html`.
    public String index() {
        return index;
    }

    /// Returns whether a directory without an index file is listed. Default false.
    ///
    /// A listing has at most 10 000 names and 4 MiB. It ends with the number of omitted names.
    public boolean listing() {
        return listing;
    }

    /// Returns whether names that start with a dot are served. Default false.
    ///
    /// If the directory is served at `/`, `/.well-known/` is served in any case, without hidden
    /// names below it.
    public boolean hidden() {
        return hidden;
    }

    /// Returns whether symbolic links are followed, also out of the directory. Default false.
    public boolean symlinks() {
        return symlinks;
    }

    /// Returns whether files are sent compressed to clients that accept gzip. Default true.
    ///
    /// A file `a.css.gz` next to `a.css` is sent if it is not older. Without one, text files from
    /// 1 KiB to 1 MiB are compressed at the first request, while memory lasts. `HEAD` compresses
    /// too, because its headers must equal those of `GET`.
    public boolean compression() {
        return compression;
    }

    /// Returns the value of the `Cache-Control` header; empty for no header. Default empty.
    public String cacheControl() {
        return cacheControl;
    }

    /// Returns how long a cached file is sent before the server checks it for changes. Default
    /// 100 ms. A changed file of more than 16 KiB is noticed at once.
    public Duration revalidateAfter() {
        return revalidateAfter;
    }

    /// Returns a copy with this [#index()].
    public FilesConfig withIndex(String name) {
        return with(copy -> copy.index = Objects.requireNonNull(name, "name"));
    }

    /// Returns a copy with this [#listing()].
    public FilesConfig withListing(boolean listing) {
        return with(copy -> copy.listing = listing);
    }

    /// Returns a copy with this [#hidden()].
    public FilesConfig withHidden(boolean hidden) {
        return with(copy -> copy.hidden = hidden);
    }

    /// Returns a copy with this [#symlinks()].
    public FilesConfig withSymlinks(boolean followSymlinks) {
        return with(copy -> copy.symlinks = followSymlinks);
    }

    /// Returns a copy with this [#compression()].
    public FilesConfig withCompression(boolean compression) {
        return with(copy -> copy.compression = compression);
    }

    /// Returns a copy with this [#cacheControl()].
    public FilesConfig withCacheControl(String value) {
        return with(copy -> copy.cacheControl = Objects.requireNonNull(value, "value"));
    }

    /// Returns a copy with this [#revalidateAfter()], zero or more.
    public FilesConfig withRevalidateAfter(Duration delay) {
        return with(copy -> copy.revalidateAfter = Limits.zeroOrMore("revalidateAfter", delay));
    }
}
