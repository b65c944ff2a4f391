package dev.gyre.http.internal.body;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.http.internal.message.Texts;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;

/// Writes one file. The loop fills one array while another thread writes the other.
///
/// Data goes to a temporary file, which is renamed at the end of the part. The file is deleted
/// unless the whole upload succeeds, also if the loop terminates.
final class FileSink implements AutoCloseable {
    /// The bytes of one write.
    private static final int CHUNK_BYTES = 128 << 10;

    private static final int FIRST_BYTES = 8 << 10;

    /// Attempts to create a file whose directory is deleted meanwhile.
    private static final int MAX_ATTEMPTS = 10;

    private final MultipartReader reader;
    private final EventLoop loop;
    private final HeapBudget heap;
    private final Path directory;
    private final @Nullable String fileName;
    private final Deferred<Path> result;

    // Loop thread only.
    private byte[] filling = {};
    private int filled;

    /// Not in use; empty while it is being written.
    private byte[] spare = {};

    private long acquired;
    private boolean writing;
    private boolean ended;
    private boolean settled;

    // Shared: guarded by this. Worker threads take turns, and the loop may terminate.
    private @Nullable FileChannel channel;

    /// The temporary file, then the complete one.
    private @Nullable Path file;

    /// The directories that this upload created, innermost first.
    private final List<Path> created = new ArrayList<>();

    private boolean closed;

    /// @param fileName `null` for a random name
    FileSink(MultipartReader reader, Path directory, @Nullable String fileName) {
        this.reader = reader;
        loop = reader.loop();
        heap = reader.heap();
        this.directory = directory;
        this.fileName = fileName;
        result = loop.deferred();
        result.promise().then(_ -> this, _ -> this); // The upload reports failures.
        loop.own(this);
    }

    Promise<Path> result() {
        return result.promise();
    }

    boolean isSettled() {
        return settled;
    }

    // ------------------------------------------------------------------ loop thread

    int room() {
        return CHUNK_BYTES - Math.min(filled, CHUNK_BYTES);
    }

    /// Adds all readable bytes, at most [#room()] and a delimiter.
    ///
    /// @throws HttpException 503 without memory
    void add(Buffer data) {
        int more = data.readable();
        int needed = filled + more;
        if (needed > filling.length) {
            int capacity =
                    Math.max(needed, Math.min(CHUNK_BYTES, Math.max(FIRST_BYTES, 2 * needed)));
            if (!heap.tryAcquire(capacity - filling.length)) {
                throw MultipartReader.noMemory();
            }
            acquired += capacity - filling.length;
            filling = Arrays.copyOf(filling, capacity);
        }
        data.get(filling, filled, more);
        filled += more;
        if (room() == 0 && !writing) {
            write();
        }
    }

    /// Called when all data was added.
    void end() {
        ended = true;
        if (!writing) {
            write();
        }
    }

    private void write() {
        byte[] bytes = filling;
        int length = filled;
        boolean last = ended;
        filling = spare;
        filled = 0;
        spare = new byte[0];
        writing = true;
        loop.promisify(_ -> last ? publish(bytes, length) : append(bytes, length))
                .then(path -> written(bytes, path, last), this::failed);
    }

    /// @param complete whether the path is that of the complete file
    private Path written(byte[] bytes, Path path, boolean complete) {
        writing = false;
        spare = bytes;
        if (settled) {
            return path; // Failed meanwhile.
        }
        if (complete) {
            releaseMemory();
            settled = true;
            result.resolve(path);
            reader.changed();
        } else {
            if (ended || room() == 0) {
                write();
            }
            reader.advance();
        }
        return path;
    }

    private Path failed(Throwable reason) {
        writing = false;
        reader.fail(
                reason instanceof RejectedExecutionException
                        ? new HttpException(503, "the server is busy: retry later", reason)
                        : reason);
        return directory;
    }

    private void releaseMemory() {
        heap.release(acquired);
        acquired = 0;
        filling = new byte[0];
        spare = filling;
    }

    /// Keeps the complete file: the upload has succeeded.
    void keep() {
        loop.disown(this);
    }

    /// Called when the upload has failed and the file is deleted.
    void reject(Throwable reason) {
        loop.disown(this);
        if (!settled) {
            settled = true;
            releaseMemory();
            result.reject(reason);
        }
    }

    // ------------------------------------------------------------------ worker threads

    private synchronized Path append(byte[] bytes, int length) throws IOException {
        if (closed) {
            throw new IOException(
                    "the upload was aborted: the client disconnected or a limit was exceeded");
        }
        FileChannel open = channel;
        if (open == null) {
            Path temporary = directory.resolve("." + UUID.randomUUID() + ".part");
            open = open(temporary);
            channel = open;
            file = temporary;
        }
        for (ByteBuffer rest = ByteBuffer.wrap(bytes, 0, length); rest.hasRemaining(); ) {
            open.write(rest);
        }
        return directory;
    }

    /// Creates the file, and its directories if they are absent.
    private FileChannel open(Path temporary) throws IOException {
        for (int attempt = 1; ; attempt++) {
            List<Path> absent = new ArrayList<>();
            Path parent = directory.toAbsolutePath();
            for (; parent != null && !Files.exists(parent); parent = parent.getParent()) {
                absent.add(parent);
            }
            try {
                Files.createDirectories(directory);
                created.addAll(absent);
                return FileChannel.open(
                        temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            } catch (NoSuchFileException e) {
                // A failed upload deleted the directory that it had created.
                if (attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private synchronized Path publish(byte[] bytes, int length) throws IOException {
        append(bytes, length);
        Objects.requireNonNull(channel).close();
        Path target = directory.resolve(fileName == null ? UUID.randomUUID().toString() : fileName);
        try {
            Files.createFile(target); // Reserves the name: renaming would replace a file.
        } catch (FileAlreadyExistsException e) {
            throw new HttpException(
                    409, "a file named " + Texts.shown(String.valueOf(fileName)) + " exists", e);
        }
        try {
            Files.move(Objects.requireNonNull(file), target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(target);
            throw e;
        }
        file = target;
        return target;
    }

    /// Deletes the file, and the directories created for it unless other files are in them. Also
    /// called when the loop terminates.
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (FileChannel _ = channel) {
            if (file != null) {
                Files.deleteIfExists(file);
            }
            for (Path each : created) {
                Files.deleteIfExists(each);
            }
        } catch (DirectoryNotEmptyException e) {
            // Another upload uses it.
        } catch (IOException e) {
            System.getLogger("dev.gyre.http")
                    .log(System.Logger.Level.WARNING, "cannot delete " + file, e);
        }
    }
}
