package dev.gyre.http.internal.files;

import dev.gyre.http.FilesConfig;
import dev.gyre.http.internal.coding.GzipCoder;
import dev.gyre.http.internal.coding.MediaTypes;
import dev.gyre.http.internal.files.FileOpener.Opened;
import dev.gyre.http.internal.files.FileOpener.Refused;
import dev.gyre.http.internal.message.WrittenDate;
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

/// Looks at the disk: finds files, opens them, and reads what is small. Names are checked by [RequestedPath], places by
/// [FileOpener].
///
/// **What is vouched for.** A strong tag, and a date, say that whoever has them has these very bytes. So there is
/// neither for a file that was changed a moment ago and may be changed again within one tick of its clock, but a weak
/// tag; and nothing at all for one that has fewer bytes than its size says, as those have that the kernel makes up when
/// they are read.
///
/// **Threads.** Any: it holds nothing, and blocks.
final class FileLoader {
    /// What is smaller is kept in memory, so that head and content leave together and no descriptor is held.
    static final int SMALL_BYTES = 16 << 10;

    static final int MOST_GZIP_BYTES = 1 << 20;
    private static final int LEAST_GZIP_BYTES = 1 << 10;
    private static final int GZIP_LEVEL = 6;

    /// A file that was changed so lately may change again and look the same: some systems count in seconds.
    private static final long RESTLESS_NANOS = 2_000_000_000L;

    private static final long NANOS = 1_000_000_000L;

    private static final Found MISSING = new Found.Nothing(404);

    private final Path root;
    private final FilesConfig config;
    private final FileOpener opener;
    private final boolean atRoot;
    private final InstantSource clock;

    /// @param root absolute; without links in it, unless they are followed
    /// @param atRoot whether it is what the server has at `/`
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

    /// Finds what is asked for.
    ///
    /// @param mostToCompress how large a file may be of which a compressed form is made; 0 if nobody wants one
    Found load(RequestedPath requested, int mostToCompress) throws IOException {
        try {
            Path path = root;
            for (String name : requested.names()) {
                path = path.resolve(name);
            }
            Opened opened = opener.open(path);
            if (opened == null || opened.identity().isDirectory() == requested.isDirectory()) {
                return opened == null
                        ? MISSING
                        : requested.isDirectory()
                                ? directory(opened, requested, mostToCompress)
                                : file(opened, mostToCompress);
            }
            opened.file().close();
            return requested.isDirectory() ? MISSING : new Found.Elsewhere();
        } catch (InvalidPathException e) {
            NameEncoding.refused(e);
            return MISSING; // Names that this system cannot have.
        } catch (Refused e) {
            return new Found.Nothing(e.status);
        }
    }

    /// Whether a file that was found before is still there, and the same.
    boolean isCurrent(CachedFile known) {
        return known.isSettled()
                && known.identity.equals(seen(known.path))
                && (!known.varies || Objects.equals(known.beside, seen(beside(known.path))));
    }

    // ------------------------------------------------------------------ directories

    private Found directory(Opened opened, RequestedPath requested, int mostToCompress)
            throws IOException, Refused {
        try (Descriptor _ = opened.file()) {
            if (!config.index().isEmpty()) {
                Opened index = opener.open(opened.path().resolve(config.index()));
                if (index != null && index.identity().isRegular()) {
                    return file(index, mostToCompress);
                }
                if (index != null) {
                    index.file().close();
                }
            }
            return config.listing()
                    ? new Found.Listed(
                            Listing.page(opened.self(), requested.names(), config, atRoot))
                    : MISSING;
        }
    }

    // ------------------------------------------------------------------ files

    private CachedFile file(Opened opened, int mostToCompress) {
        String type = MediaTypes.ofName(String.valueOf(opened.path().getFileName()));
        boolean varies = config.compression() && MediaTypes.isCompressible(type);
        long size = opened.identity().size();
        // Seen before it is opened: should it change in between, the next look finds that out.
        FileIdentity seen = varies ? seen(beside(opened.path())) : null;
        Opened beside = seen == null ? null : newerBeside(opened);
        boolean canShrink =
                varies && beside == null && size >= LEAST_GZIP_BYTES && size <= MOST_GZIP_BYTES;
        boolean shrinks = canShrink && size <= mostToCompress;
        FileForm plain = null;
        FileForm compressed = null;
        try {
            byte[] content = readIfSmall(opened, shrinks ? MOST_GZIP_BYTES : SMALL_BYTES);
            byte[] small = beside == null ? null : readIfSmall(beside, SMALL_BYTES);
            Vouching vouching = vouching(opened, content, beside, small);
            if (beside != null) {
                compressed = beside(opened, type, beside, small, vouching);
            } else if (shrinks && content != null) {
                compressed = made(opened, type, content, vouching);
            }
            plain = plain(opened, type, varies, content, vouching);
            return new CachedFile(
                    opened.path(),
                    opened.identity(),
                    plain,
                    compressed,
                    varies,
                    seen,
                    canShrink && !shrinks,
                    vouching.modified,
                    vouching.strength == Strength.STRONG);
        } finally {
            closeUnlessUsed(opened, plain);
            closeUnlessUsed(beside, plain == null ? null : compressed);
        }
    }

    /// The compressed file beside one that is not older; null if there is none that may be served.
    private @Nullable Opened newerBeside(Opened opened) {
        Opened beside;
        try {
            beside = opener.open(beside(opened.path()));
        } catch (Refused e) {
            return null; // What was asked for can be read all the same.
        }
        if (beside != null
                && beside.identity().isRegular()
                && beside.identity().modifiedNanos() >= opened.identity().modifiedNanos()) {
            return beside;
        }
        closeUnlessUsed(beside, null);
        return null;
    }

    /// What is at a path, wherever it leads; null if nothing is.
    private static @Nullable FileIdentity seen(Path path) {
        try {
            return FileIdentity.of(path);
        } catch (IOException e) {
            return null;
        }
    }

    @SuppressWarnings("ReferenceEquality") // a descriptor is only itself
    private static void closeUnlessUsed(@Nullable Opened opened, @Nullable FileForm form) {
        if (opened != null && (form == null || form.file() != opened.file())) {
            opened.file().close();
        }
    }

    private static Path beside(Path path) {
        return path.resolveSibling(path.getFileName() + ".gz");
    }

    /// All of it, which may be less than its size says; null if it is too much.
    private static byte @Nullable [] readIfSmall(Opened opened, long most) {
        if (opened.identity().size() > most) {
            return null;
        }
        ByteBuffer content = ByteBuffer.allocate((int) opened.identity().size());
        while (content.hasRemaining() && opened.file().read(content) > 0) {}
        return content.hasRemaining()
                ? Arrays.copyOf(content.array(), content.position())
                : content.array();
    }

    // ------------------------------------------------------------------ what is vouched for

    private enum Strength {
        /// These very bytes.
        STRONG,
        /// Something like it.
        WEAK,
        NONE
    }

    /// @param modified in seconds since 1970
    private record Vouching(Strength strength, long modified) {}

    private Vouching vouching(
            Opened opened,
            byte @Nullable [] content,
            @Nullable Opened beside,
            byte @Nullable [] besideContent) {
        Instant now = clock.instant();
        long nowNanos = now.getEpochSecond() * NANOS + now.getNano();
        boolean whole =
                isWhole(opened, content) && (beside == null || isWhole(beside, besideContent));
        // Behind the reading, which a change in the middle of it would have torn.
        boolean still =
                opened.isUntouched()
                        && isSettled(opened.identity(), nowNanos)
                        && (beside == null
                                || (beside.isUntouched()
                                        && isSettled(beside.identity(), nowNanos)));
        Strength strength = !whole ? Strength.NONE : still ? Strength.STRONG : Strength.WEAK;
        // Nothing was changed in the future, whatever the disk says.
        long modified = Math.min(opened.identity().modifiedSeconds(), now.getEpochSecond());
        return new Vouching(strength, modified);
    }

    private static boolean isWhole(Opened opened, byte @Nullable [] content) {
        return content == null || content.length == opened.identity().size();
    }

    private static boolean isSettled(FileIdentity identity, long nowNanos) {
        boolean isPast = identity.modifiedNanos() <= nowNanos;
        long changed = isPast ? identity.modifiedNanos() : identity.changedNanos();
        return nowNanos - changed > RESTLESS_NANOS;
    }

    private static String etag(String tag, Strength strength) {
        return switch (strength) {
            case STRONG -> '"' + tag + '"';
            case WEAK -> Conditions.WEAK + '"' + tag + '"';
            case NONE -> "";
        };
    }

    // ------------------------------------------------------------------ forms

    private FileForm plain(
            Opened opened,
            String type,
            boolean varies,
            byte @Nullable [] content,
            Vouching vouching) {
        String etag = etag(opened.identity().tag(), vouching.strength);
        List<String> fields = fields(etag, vouching, varies);
        fields.add("Accept-Ranges");
        fields.add("bytes");
        FileHead head = FileHead.of(200, type, fields);
        // What was read is also sent if the file has no more, whatever its size says.
        return content != null && (content.length <= SMALL_BYTES || !isWhole(opened, content))
                ? new FileForm(head, etag, content.length, content, null)
                : new FileForm(head, etag, opened.identity().size(), null, opened);
    }

    private FileForm beside(
            Opened opened,
            String type,
            Opened beside,
            byte @Nullable [] content,
            Vouching vouching) {
        long length = content == null ? beside.identity().size() : content.length;
        return gzip(
                opened,
                "-" + beside.identity().tag(),
                type,
                vouching,
                length,
                content,
                content == null ? beside : null);
    }

    private @Nullable FileForm made(Opened opened, String type, byte[] content, Vouching vouching) {
        byte[] smaller;
        try (GzipCoder coder = new GzipCoder(GZIP_LEVEL)) {
            smaller = coder.whole(content);
        }
        return smaller.length >= content.length
                ? null
                : gzip(opened, "-gzip", type, vouching, smaller.length, smaller, null);
    }

    private FileForm gzip(
            Opened opened,
            String tagged,
            String type,
            Vouching vouching,
            long length,
            byte @Nullable [] content,
            @Nullable Opened source) {
        String etag = etag(opened.identity().tag() + tagged, vouching.strength);
        List<String> fields = fields(etag, vouching, true);
        fields.add("Content-Encoding");
        fields.add("gzip");
        return new FileForm(FileHead.of(200, type, fields), etag, length, content, source);
    }

    private List<String> fields(String etag, Vouching vouching, boolean varies) {
        List<String> fields = new ArrayList<>();
        if (!etag.isEmpty()) {
            fields.add("ETag");
            fields.add(etag);
        }
        if (vouching.strength == Strength.STRONG) {
            fields.add("Last-Modified");
            fields.add(WrittenDate.of(vouching.modified));
        }
        fields.add("X-Content-Type-Options");
        fields.add("nosniff");
        if (!config.cacheControl().isEmpty()) {
            fields.add("Cache-Control");
            fields.add(config.cacheControl());
        }
        if (varies) {
            fields.add("Vary");
            fields.add("Accept-Encoding");
        }
        return fields;
    }
}
