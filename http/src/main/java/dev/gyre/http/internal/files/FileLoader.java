package dev.gyre.http.internal.files;

import dev.gyre.http.FilesConfig;
import dev.gyre.http.internal.coding.GzipCoder;
import dev.gyre.http.internal.coding.MediaTypes;
import dev.gyre.http.internal.files.CachedFile.Representation;
import dev.gyre.http.internal.files.FileOpener.OpenFailedException;
import dev.gyre.http.internal.files.FileOpener.Opened;
import dev.gyre.http.internal.message.HttpDate;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/// Looks up files: finds them, opens them, and reads small ones. [RequestedPath] checks names,
/// [FileOpener] checks locations.
///
/// **Validators.** A strong tag and a date promise identical bytes. A recently changed file may
/// change again within one tick of its clock, so it gets a weak tag and no date. A file with fewer
/// bytes than its size, such as those of `/proc`, gets no validator.
///
/// **Threads.** Any; stateless. Blocks.
final class FileLoader {
    /// Smaller files are kept in memory: head and body leave together and no descriptor is held.
    static final int SMALL_BYTES = 16 << 10;

    static final int MAX_GZIP_BYTES = 1 << 20;
    private static final int MIN_GZIP_BYTES = 1 << 10;
    private static final int GZIP_LEVEL = 6;

    /// A file changed less than this ago may change again with the same time: some file systems
    /// count in seconds.
    private static final long UNSETTLED_NANOS = 2_000_000_000L;

    private static final Result NOT_FOUND = new Failed(404);
    private static final AtomicBoolean ENCODING_WARNED = new AtomicBoolean();

    sealed interface Result permits CachedFile, Failed, Redirect, Listing {}

    /// @param status 403, 404 or 503
    record Failed(int status) implements Result {}

    /// A directory was requested without the trailing slash.
    record Redirect() implements Result {}

    /// @param page the directory as HTML
    record Listing(String page) implements Result {}

    private final Path root;
    private final FilesConfig config;
    private final FileOpener opener;
    private final boolean atRoot;
    private final InstantSource clock;

    /// @param root absolute; free of links unless they are followed
    /// @param atRoot whether the directory is served at `/`
    FileLoader(Path root, FilesConfig config, boolean atRoot) {
        this(
                root,
                config,
                atRoot,
                new FileOpener(
                        config.symlinks(), path -> Descriptor.open(path, StandardOpenOption.READ)),
                InstantSource.system());
    }

    FileLoader(
            Path root, FilesConfig config, boolean atRoot, FileOpener opener, InstantSource clock) {
        this.root = root;
        this.config = config;
        this.atRoot = atRoot;
        this.opener = opener;
        this.clock = clock;
    }

    /// Looks up a file.
    ///
    /// @param maxGzipBytes the maximum size of a file to compress; 0 for no compression
    Result load(RequestedPath requested, int maxGzipBytes) throws IOException {
        try {
            Path path = root;
            for (String name : requested.names()) {
                path = path.resolve(name);
            }
            Opened opened = opener.open(path);
            if (opened == null) {
                return NOT_FOUND;
            }
            if (opened.identity().isDirectory() == requested.isDirectory()) {
                return requested.isDirectory()
                        ? loadDirectory(opened, requested, maxGzipBytes)
                        : loadFile(opened, maxGzipBytes);
            }
            opened.file().close();
            return requested.isDirectory() ? NOT_FOUND : new Redirect();
        } catch (InvalidPathException e) {
            warnAboutEncoding(e);
            return NOT_FOUND;
        } catch (OpenFailedException e) {
            return new Failed(e.status);
        }
    }

    /// Returns whether a file found before still exists unchanged.
    boolean isCurrent(CachedFile file) {
        return file.isSettled
                && file.identity.equals(identityOrNull(file.path))
                && (!file.varies
                        || Objects.equals(file.sidecar, identityOrNull(sidecarOf(file.path))));
    }

    /// A JVM takes the encoding of file names from its environment. In the locales `C` and `POSIX`
    /// it is ASCII, and files with other names are unreachable.
    private static void warnAboutEncoding(InvalidPathException failure) {
        boolean isForeign = failure.getInput().chars().anyMatch(c -> c > '~');
        if (isForeign && ENCODING_WARNED.compareAndSet(false, true)) {
            System.getLogger("dev.gyre.http")
                    .log(
                            System.Logger.Level.WARNING,
                            "files with non-ASCII names cannot be served: this JVM encodes file"
                                    + " names in {0}. Start it with LC_ALL=C.UTF-8 or another"
                                    + " UTF-8 locale",
                            System.getProperty("sun.jnu.encoding"));
        }
    }

    // ------------------------------------------------------------------ loading

    private Result loadDirectory(Opened opened, RequestedPath requested, int maxGzipBytes)
            throws IOException, OpenFailedException {
        try (Descriptor _ = opened.file()) {
            if (!config.index().isEmpty()) {
                Opened index = opener.open(opened.path().resolve(config.index()));
                if (index != null && index.identity().isRegular()) {
                    return loadFile(index, maxGzipBytes);
                }
                closeUnlessUsed(index, null);
            }
            return config.listing()
                    ? new Listing(
                            DirectoryListing.page(opened.self(), requested.names(), config, atRoot))
                    : NOT_FOUND;
        }
    }

    private CachedFile loadFile(Opened opened, int maxGzipBytes) {
        String type = MediaTypes.ofName(String.valueOf(opened.path().getFileName()));
        boolean varies = config.compression() && MediaTypes.isCompressible(type);
        long size = opened.identity().size();
        // Read before the sidecar is opened: the next lookup notices a change in between.
        FileIdentity sidecarIdentity = varies ? identityOrNull(sidecarOf(opened.path())) : null;
        Opened sidecar = sidecarIdentity == null ? null : openSidecar(opened);
        boolean canCompress =
                varies && sidecar == null && size >= MIN_GZIP_BYTES && size <= MAX_GZIP_BYTES;
        boolean compresses = canCompress && size <= maxGzipBytes;
        Representation plain = null;
        Representation gzip = null;
        try {
            byte[] body = readIfSmall(opened, compresses ? MAX_GZIP_BYTES : SMALL_BYTES);
            byte[] gzipBody = sidecar == null ? null : readIfSmall(sidecar, SMALL_BYTES);
            Validity validity = validity(opened, body, sidecar, gzipBody);
            if (sidecar != null) {
                String suffix = "-" + sidecar.identity().tag();
                gzip = gzip(opened, suffix, type, validity, gzipBody, sidecar);
            } else if (compresses && body != null) {
                gzipBody = compress(body);
                if (gzipBody.length < body.length) {
                    gzip = gzip(opened, "-gzip", type, validity, gzipBody, opened);
                }
            }
            plain = plain(opened, type, varies, body, validity);
            return new CachedFile(
                    opened.path(),
                    opened.identity(),
                    plain,
                    gzip,
                    varies,
                    sidecarIdentity,
                    canCompress && !compresses,
                    validity.modified,
                    validity.strength == Strength.STRONG);
        } finally {
            closeUnlessUsed(opened, plain);
            closeUnlessUsed(sidecar, plain == null ? null : gzip);
        }
    }

    /// Opens the `.gz` file next to a file; `null` if absent, older or unreadable.
    private @Nullable Opened openSidecar(Opened opened) {
        Opened sidecar;
        try {
            sidecar = opener.open(sidecarOf(opened.path()));
        } catch (OpenFailedException e) {
            return null; // The file itself can still be sent.
        }
        if (sidecar != null
                && sidecar.identity().isRegular()
                && sidecar.identity().modifiedNanos() >= opened.identity().modifiedNanos()) {
            return sidecar;
        }
        closeUnlessUsed(sidecar, null);
        return null;
    }

    private static @Nullable FileIdentity identityOrNull(Path path) {
        try {
            return FileIdentity.of(path, true);
        } catch (IOException e) {
            return null;
        }
    }

    @SuppressWarnings("ReferenceEquality") // a descriptor is only itself
    private static void closeUnlessUsed(@Nullable Opened opened, @Nullable Representation form) {
        if (opened != null && (form == null || form.file() != opened.file())) {
            opened.file().close();
        }
    }

    private static Path sidecarOf(Path path) {
        return path.resolveSibling(path.getFileName() + ".gz");
    }

    /// Returns all bytes, possibly fewer than the size; `null` if the file is too large.
    private static byte @Nullable [] readIfSmall(Opened opened, long maxBytes) {
        if (opened.identity().size() > maxBytes) {
            return null;
        }
        ByteBuffer body = ByteBuffer.allocate((int) opened.identity().size());
        while (body.hasRemaining() && opened.file().read(body) > 0) {}
        return body.hasRemaining() ? Arrays.copyOf(body.array(), body.position()) : body.array();
    }

    private static byte[] compress(byte[] body) {
        try (GzipCoder coder = new GzipCoder(GZIP_LEVEL)) {
            return coder.whole(body);
        }
    }

    // ------------------------------------------------------------------ validators

    private enum Strength {
        /// Identical bytes.
        STRONG,
        /// Equivalent bytes.
        WEAK,
        NONE
    }

    /// @param modified in seconds since 1970
    private record Validity(Strength strength, long modified) {}

    private Validity validity(
            Opened opened,
            byte @Nullable [] body,
            @Nullable Opened sidecar,
            byte @Nullable [] sidecarBody) {
        Instant now = clock.instant();
        boolean complete =
                isComplete(opened, body) && (sidecar == null || isComplete(sidecar, sidecarBody));
        // Checked after the read, to notice a change during it.
        boolean settled = isSettled(opened, now) && (sidecar == null || isSettled(sidecar, now));
        Strength strength = !complete ? Strength.NONE : settled ? Strength.STRONG : Strength.WEAK;
        // A modification time in the future counts as now.
        long modified = Math.min(opened.identity().modifiedSeconds(), now.getEpochSecond());
        return new Validity(strength, modified);
    }

    private static boolean isComplete(Opened opened, byte @Nullable [] body) {
        return body == null || body.length == opened.identity().size();
    }

    private static boolean isSettled(Opened opened, Instant now) {
        long nowNanos = now.getEpochSecond() * 1_000_000_000L + now.getNano();
        FileIdentity identity = opened.identity();
        boolean isPast = identity.modifiedNanos() <= nowNanos;
        long changed = isPast ? identity.modifiedNanos() : identity.changedNanos();
        return opened.isUnmodified() && nowNanos - changed > UNSETTLED_NANOS;
    }

    private static String etag(String tag, Strength strength) {
        return switch (strength) {
            case STRONG -> '"' + tag + '"';
            case WEAK -> Preconditions.WEAK + '"' + tag + '"';
            case NONE -> "";
        };
    }

    // ------------------------------------------------------------------ representations

    private Representation plain(
            Opened opened, String type, boolean varies, byte @Nullable [] body, Validity validity) {
        String etag = etag(opened.identity().tag(), validity.strength);
        List<String> headers = headers(etag, validity, varies);
        headers.addAll(List.of("Accept-Ranges", "bytes"));
        FileHead head = FileHead.of(200, type, headers);
        // A file with fewer bytes than its size is sent as it was read.
        return body != null && (body.length <= SMALL_BYTES || !isComplete(opened, body))
                ? new Representation(head, etag, body.length, body, null)
                : new Representation(head, etag, opened.identity().size(), null, opened);
    }

    /// @param source sent if `body` is null
    private Representation gzip(
            Opened opened,
            String tagSuffix,
            String type,
            Validity validity,
            byte @Nullable [] body,
            Opened source) {
        String etag = etag(opened.identity().tag() + tagSuffix, validity.strength);
        List<String> headers = headers(etag, validity, true);
        headers.addAll(List.of("Content-Encoding", "gzip"));
        FileHead head = FileHead.of(200, type, headers);
        return body != null
                ? new Representation(head, etag, body.length, body, null)
                : new Representation(head, etag, source.identity().size(), null, source);
    }

    private List<String> headers(String etag, Validity validity, boolean varies) {
        List<String> headers = new ArrayList<>();
        if (!etag.isEmpty()) {
            headers.addAll(List.of("ETag", etag));
        }
        if (validity.strength == Strength.STRONG) {
            headers.addAll(List.of("Last-Modified", HttpDate.of(validity.modified)));
        }
        headers.addAll(List.of("X-Content-Type-Options", "nosniff"));
        if (!config.cacheControl().isEmpty()) {
            headers.addAll(List.of("Cache-Control", config.cacheControl()));
        }
        if (varies) {
            headers.addAll(List.of("Vary", "Accept-Encoding"));
        }
        return headers;
    }
}
