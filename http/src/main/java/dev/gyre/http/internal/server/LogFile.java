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

/// Lines appended to a file, many at a time, that knows how many of them are not in it: writers of the JDK's keep what they
/// could not write, and say neither how much of it that is nor whether it comes later.
///
/// **Threads.** One at a time.
public final class LogFile implements Closeable {
    private static final int CAPACITY_BYTES = 64 << 10;

    private final FileChannel channel;
    private final ByteBuffer waiting = ByteBuffer.allocate(CAPACITY_BYTES);
    private @Nullable IOException failure;

    /// Whether the file ends in the middle of a line.
    private boolean torn;

    /// Opens a file to append to.
    ///
    /// @throws UncheckedIOException if it cannot be opened
    public LogFile(Path file) {
        try {
            channel =
                    FileChannel.open(
                            file,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("an access log cannot be opened: " + file, e);
        }
    }

    /// Adds a line.
    ///
    /// @param line one that no [LogLine] is too long for
    /// @return how many lines turned out to be lost
    public int add(String line) {
        byte[] bytes = line.getBytes(US_ASCII);
        int lost = waiting.remaining() <= bytes.length ? flush() : 0;
        if (waiting.remaining() <= bytes.length) {
            return lost + 1;
        }
        waiting.put(bytes).put((byte) '\n');
        return lost;
    }

    /// Writes what waits.
    ///
    /// @return how many lines turned out to be lost
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

    /// Why lines were lost, the last time; null if none were.
    public @Nullable IOException failure() {
        return failure;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
