package dev.gyre.http.internal.files;

import dev.gyre.SystemCallException;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.internal.coding.GzipCoder;
import dev.gyre.http.internal.coding.MediaTypes;
import dev.gyre.http.internal.message.WrittenDate;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// Looks at the disk: finds files, opens them, and reads what is small.
///
/// **No way out.** Names are checked by [RequestedPath]. Symbolic links are found out afterwards and by the kernel:
/// the file is opened, and then asked for its place (`/proc/self/fd`). If that is not to the letter where it was
/// looked for, some part of the path was a link, and what was opened is closed unread. There is no moment in
/// between in which somebody could put a link there.
///
/// **Threads.** Any: it holds nothing, and blocks.
final class FileLoader {
    /// What is smaller is kept in memory, so that head and content leave together and no descriptor is held.
    static final int SMALL_BYTES = 16 << 10;

    private static final int LEAST_GZIP_BYTES = 1 << 10;
    private static final int MOST_GZIP_BYTES = 1 << 20;
    private static final int GZIP_LEVEL = 6;

    private static final int EACCES = 13;
    private static final int EPERM = 1;

    private static final Found MISSING = new Found.Nothing(404);

    private final Path root;
    private final FilesConfig config;

    /// @param root absolute; without links in it, unless they are followed
    FileLoader(Path root, FilesConfig config) {
        this.root = root;
        this.config = config;
    }

    private record Opened(Path path, Descriptor file, FileIdentity identity) {
        /// The same file, wherever its name leads to by now.
        Path self() {
            return selfOf(file);
        }

        static Path selfOf(Descriptor file) {
            return Path.of("/proc/self/fd/" + file.fd());
        }
    }

    /// Finds what is asked for.
    ///
    /// @param gzip whether somebody would take it compressed
    Found load(RequestedPath requested, boolean gzip) throws IOException {
        try {
            Path path = root;
            for (String name : requested.names()) {
                path = path.resolve(name);
            }
            Opened opened = open(path);
            if (opened == null || opened.identity.isDirectory() == requested.isDirectory()) {
                return opened == null
                        ? MISSING
                        : requested.isDirectory()
                                ? directory(opened, requested, gzip)
                                : file(opened, gzip);
            }
            opened.file.close();
            return requested.isDirectory() ? MISSING : new Found.Elsewhere();
        } catch (InvalidPathException e) {
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

    // ------------------------------------------------------------------ opening

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        final int status;

        Refused(int status, Exception cause) {
            super(cause);
            this.status = status;
        }
    }

    /// Opens a file or a directory.
    ///
    /// @return null if there is none
    private @Nullable Opened open(Path path) throws Refused {
        try {
            // Before it is opened: with a device that alone may do something.
            LinkOption[] options =
                    config.symlinks()
                            ? new LinkOption[0]
                            : new LinkOption[] {LinkOption.NOFOLLOW_LINKS};
            if (!isServed(FileIdentity.of(path, options))) {
                return null;
            }
            Descriptor file = Descriptor.open(path, StandardOpenOption.READ);
            Opened opened = null;
            try {
                Path self = Opened.selfOf(file);
                boolean inPlace = config.symlinks() || Files.readSymbolicLink(self).equals(path);
                FileIdentity identity = FileIdentity.of(self);
                if (inPlace && isServed(identity)) {
                    opened = new Opened(path, file, identity);
                }
            } finally {
                if (opened == null) {
                    file.close();
                }
            }
            return opened;
        } catch (AccessDeniedException e) {
            throw new Refused(403, e);
        } catch (IOException e) {
            return null;
        } catch (SystemCallException e) {
            if (e.kind() == SystemCallException.Kind.RESOURCE) {
                throw new Refused(503, e);
            }
            if (e.errno() == EACCES || e.errno() == EPERM) {
                throw new Refused(403, e);
            }
            return null;
        }
    }

    private static boolean isServed(FileIdentity identity) {
        return identity.isRegular() || identity.isDirectory();
    }

    // ------------------------------------------------------------------ directories

    private Found directory(Opened opened, RequestedPath requested, boolean gzip)
            throws IOException, Refused {
        try (Descriptor _ = opened.file) {
            if (!config.index().isEmpty()) {
                Opened index = open(opened.path.resolve(config.index()));
                if (index != null && index.identity.isRegular()) {
                    return file(index, gzip);
                }
                if (index != null) {
                    index.file.close();
                }
            }
            return config.listing()
                    ? new Found.Listed(
                            Listing.page(
                                    opened.self(),
                                    requested.names(),
                                    config.hidden(),
                                    config.symlinks()))
                    : MISSING;
        }
    }

    // ------------------------------------------------------------------ files

    private CachedFile file(Opened opened, boolean gzip) {
        String type = MediaTypes.ofName(String.valueOf(opened.path.getFileName()));
        boolean varies = config.compression() && MediaTypes.isCompressible(type);
        // Seen before it is opened: should it change in between, the next look finds that out.
        FileIdentity seen = varies ? seen(beside(opened.path)) : null;
        Opened beside = seen == null ? null : newerBeside(opened);
        boolean canTry =
                varies
                        && beside == null
                        && opened.identity.size() >= LEAST_GZIP_BYTES
                        && opened.identity.size() <= MOST_GZIP_BYTES;
        FileForm plain = null;
        FileForm compressed = null;
        try {
            byte[] content = readIfSmall(opened, canTry && gzip ? MOST_GZIP_BYTES : SMALL_BYTES);
            if (beside != null) {
                byte[] small = readIfSmall(beside, SMALL_BYTES);
                compressed = compressed(opened, type, beside, small);
            } else if (canTry && gzip && content != null) {
                compressed = compressed(opened, type, content);
            }
            plain = plain(opened, type, varies, content);
        } finally {
            closeUnlessUsed(opened, plain);
            closeUnlessUsed(beside, plain == null ? null : compressed);
        }
        return new CachedFile(
                opened.path,
                opened.identity,
                plain,
                compressed,
                varies,
                seen,
                canTry && !gzip,
                epochNanos());
    }

    /// The compressed file beside one that is not older; null if there is none that may be served.
    private @Nullable Opened newerBeside(Opened opened) {
        Opened beside;
        try {
            beside = open(beside(opened.path));
        } catch (Refused e) {
            return null; // What was asked for can be read all the same.
        }
        if (beside != null
                && beside.identity.isRegular()
                && beside.identity.modifiedNanos() >= opened.identity.modifiedNanos()) {
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

    private static void closeUnlessUsed(@Nullable Opened opened, @Nullable FileForm form) {
        if (opened != null && (form == null || form.file() != opened.file)) {
            opened.file.close();
        }
    }

    private static long epochNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    private static Path beside(Path path) {
        return path.resolveSibling(path.getFileName() + ".gz");
    }

    /// All of it; null if it is too much, or the file has become shorter.
    private static byte @Nullable [] readIfSmall(Opened opened, long most) {
        if (opened.identity.size() > most) {
            return null;
        }
        ByteBuffer content = ByteBuffer.allocate((int) opened.identity.size());
        while (content.hasRemaining()) {
            if (opened.file.read(content) <= 0) {
                return null;
            }
        }
        return content.array();
    }

    private FileForm plain(Opened opened, String type, boolean varies, byte @Nullable [] content) {
        String etag = '"' + opened.identity.tag() + '"';
        List<String> fields = fields(etag, opened.identity, varies);
        fields.add("Accept-Ranges");
        fields.add("bytes");
        boolean small = content != null && content.length <= SMALL_BYTES;
        return new FileForm(
                FileHead.of(200, type, fields),
                etag,
                opened.identity.size(),
                small ? content : null,
                small ? null : opened.file);
    }

    private FileForm compressed(
            Opened opened, String type, Opened beside, byte @Nullable [] content) {
        String etag = '"' + opened.identity.tag() + "-" + beside.identity.tag() + '"';
        return new FileForm(
                compressedHead(etag, type, opened.identity),
                etag,
                beside.identity.size(),
                content,
                content == null ? beside.file : null);
    }

    private @Nullable FileForm compressed(Opened opened, String type, byte[] content) {
        byte[] smaller;
        try (GzipCoder coder = new GzipCoder(GZIP_LEVEL)) {
            smaller = coder.whole(content);
        }
        if (smaller.length >= content.length) {
            return null;
        }
        String etag = '"' + opened.identity.tag() + "-gzip\"";
        FileHead head = compressedHead(etag, type, opened.identity);
        return new FileForm(head, etag, smaller.length, smaller, null);
    }

    private FileHead compressedHead(String etag, String type, FileIdentity identity) {
        List<String> fields = fields(etag, identity, true);
        fields.add("Content-Encoding");
        fields.add("gzip");
        return FileHead.of(200, type, fields);
    }

    private List<String> fields(String etag, FileIdentity identity, boolean varies) {
        // Nothing was changed in the future, whatever the disk says.
        long modified = Math.min(identity.modifiedSeconds(), Instant.now().getEpochSecond());
        List<String> fields =
                new ArrayList<>(List.of("ETag", etag, "Last-Modified", WrittenDate.of(modified)));
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
