package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Appends lines to a file in batches, and counts the lines that were lost. A JDK writer keeps
/// output that it failed to write, and reports neither its size nor whether it is written later.
///
/// **Threads.** One at a time.
public final class AccessLogFile implements Closeable {
    private static final int CAPACITY_BYTES = 64 << 10;

    private final Path path;

    // One thread at a time.
    private FileChannel channel;
    private final ByteBuffer waiting = ByteBuffer.allocate(CAPACITY_BYTES);
    private @Nullable IOException failure;

    /// Whether the file ends in the middle of a line.
    private boolean torn;

    /// Opens a file to append to, which is created if absent.
    ///
    /// @throws UncheckedIOException if it cannot be opened
    public AccessLogFile(Path file) {
        path = file;
        try {
            channel = open(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open the access log " + file, e);
        }
    }

    private static FileChannel open(Path file) throws IOException {
        return FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.APPEND);
    }

    /// Opens the path again: the file may have been renamed. Call [#flush()] before, or lines that
    /// wait go to the new file.
    ///
    /// @throws IOException if it cannot be opened; the previous file stays open
    public void reopen() throws IOException {
        FileChannel opened = open(path);
        try (FileChannel _ = channel) {
            channel = opened;
            torn &= opened.size() > 0; // It may be the same file.
        }
    }

    /// Adds a line of an [AccessLogLine].
    ///
    /// @return the number of lines that were lost since the last call
    public int add(String line) {
        byte[] bytes = line.getBytes(US_ASCII);
        int lost = waiting.remaining() <= bytes.length ? flush() : 0;
        if (waiting.remaining() <= bytes.length) {
            return lost + 1;
        }
        waiting.put(bytes).put((byte) '\n');
        return lost;
    }

    /// Writes all lines that wait.
    ///
    /// @return the number of lines that were lost since the last call
    public int flush() {
        waiting.flip();
        try {
            if (torn) {
                channel.write(ByteBuffer.wrap(new byte[] {'\n'}));
                torn = false;
            }
            while (waiting.hasRemaining()) {
                channel.write(waiting);
            }
            return 0;
        } catch (IOException e) {
            failure = e;
            int written = waiting.position();
            torn |= written > 0 && waiting.get(written - 1) != '\n';
            int lost = 0;
            while (waiting.hasRemaining()) {
                lost += waiting.get() == '\n' ? 1 : 0;
            }
            return lost;
        } finally {
            waiting.clear();
        }
    }

    /// Returns why lines were lost, the last time; `null` if none were.
    public @Nullable IOException failure() {
        return failure;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
