package dev.gyre.http;

import java.time.Duration;
import java.util.Objects;

/// How [HttpServer#files] serves a directory. Immutable: each `with` method returns a changed copy.
///
/// Names that are not ASCII are found if the JVM was started with a locale in UTF-8, such as `LC_ALL=C.UTF-8`; in the locales `C`
/// and `POSIX` Java cannot open such files. That is logged once, when one is asked for.
///
/// A file that was changed in the last two seconds has a weak `ETag` and no `Last-Modified`: it may be changed again and look the
/// same, so parts of it are not for whoever has other parts (`If-Range`).
public final class FilesConfig implements Cloneable {
    /// The configuration of directories that are given none.
    public static final FilesConfig DEFAULT = new FilesConfig();

    private String index = "index.html";
    private boolean listing = false;
    private boolean hidden = false;
    private boolean symlinks = false;
    private boolean compression = true;
    private String cacheControl = "";
    private Duration fresh = Duration.ofMillis(100);

    private FilesConfig() {}

    /// What is served for a directory. Default `index.html`.
    public String index() {
        return index;
    }

    /// Whether a directory without that file is answered with a list of what it has, or of the first 10 000, or as many
    /// as are a page of 4 MiB; the page says how many are left. Default false.
    public boolean listing() {
        return listing;
    }

    /// Whether names are served that begin with a dot. Default false: of those only `/.well-known/` is then, if the directory is
    /// served at `/`, and nothing below it that begins with one.
    public boolean hidden() {
        return hidden;
    }

    /// Whether symbolic links are followed, which may lead out of the directory. Default false.
    public boolean symlinks() {
        return symlinks;
    }

    /// Whether a file is sent compressed to peers that take it when that pays: `a.css.gz` beside `a.css`, or made when first asked
    /// for. Default true.
    ///
    /// Made are compressed forms of text from 1 KiB to 1 MiB, while there is memory to keep them; larger files are sent compressed only if there
    /// is such a file beside them. `HEAD` has it made as well: only then it can say what `GET` sends.
    public boolean compression() {
        return compression;
    }

    /// What the `Cache-Control` field says; empty for no such field. Default empty.
    public String cacheControl() {
        return cacheControl;
    }

    /// How long what is known of a file is used before the system is asked anew: so long a loop may answer with what a file was.
    /// Default 100 milliseconds. A file of more than 16 KiB that was written to is noticed at once.
    public Duration fresh() {
        return fresh;
    }

    /// Changes [#index()].
    public FilesConfig withIndex(String name) {
        FilesConfig changed = copy();
        changed.index = Objects.requireNonNull(name, "name");
        return changed;
    }

    /// Changes [#listing()].
    public FilesConfig withListing(boolean listing) {
        FilesConfig changed = copy();
        changed.listing = listing;
        return changed;
    }

    /// Changes [#hidden()].
    public FilesConfig withHidden(boolean hidden) {
        FilesConfig changed = copy();
        changed.hidden = hidden;
        return changed;
    }

    /// Changes [#symlinks()].
    public FilesConfig withSymlinks(boolean follow) {
        FilesConfig changed = copy();
        changed.symlinks = follow;
        return changed;
    }

    /// Changes [#compression()].
    public FilesConfig withCompression(boolean compression) {
        FilesConfig changed = copy();
        changed.compression = compression;
        return changed;
    }

    /// Changes [#cacheControl()].
    public FilesConfig withCacheControl(String value) {
        FilesConfig changed = copy();
        changed.cacheControl = Objects.requireNonNull(value, "value");
        return changed;
    }

    /// Changes [#fresh()].
    public FilesConfig withFresh(Duration time) {
        FilesConfig changed = copy();
        changed.fresh = Limits.zeroOrMore("fresh", time);
        return changed;
    }

    private FilesConfig copy() {
        try {
            return (FilesConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
