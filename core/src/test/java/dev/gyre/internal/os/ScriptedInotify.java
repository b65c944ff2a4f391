package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.SIZEOF_INOTIFY_EVENT;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyFiles;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.io.Descriptor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// An inotify whose events the test writes: a pipe in place of the kernel's queue. Each watched
/// path gets the next number, and keeps it.
final class ScriptedInotify extends FaultyFiles implements AutoCloseable {
    private final Descriptor writer;
    private final int reader;
    private final Map<String, Integer> watches = new HashMap<>();
    private final Set<String> absent = new HashSet<>();
    final Set<Integer> removed = new HashSet<>();
    private int last;

    ScriptedInotify() {
        super(new FaultyKernel.Plan());
        FdPair pair = new FdPair();
        int result = new LinuxPollCalls().pipe2(pair.address(), Linux.O_NONBLOCK | Linux.O_CLOEXEC);
        if (result < 0) {
            throw new AssertionError("pipe2: " + Errno.name(-result));
        }
        reader = pair.first();
        writer = Descriptor.own(pair.second());
    }

    @Override
    public int inotifyInit1(int flags) {
        return reader;
    }

    @Override
    public int inotifyAddWatch(int fd, byte[] path, int mask) {
        String text = new String(path, StandardCharsets.UTF_8);
        return absent.contains(text) ? -Errno.ENOENT : watches.computeIfAbsent(text, key -> ++last);
    }

    @Override
    public int inotifyRmWatch(int fd, int watch) {
        removed.add(watch);
        watches.values().remove(watch);
        return 0;
    }

    int watchOf(Path directory) {
        return watches.get(directory.toString());
    }

    /// From now on the directory does not exist.
    void vanish(Path directory) {
        absent.add(directory.toString());
    }

    void event(int watch, int mask, int cookie, String name) {
        write(bytes(watch, mask, cookie, name));
    }

    static byte[] bytes(int watch, int mask, int cookie, String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        int length = text.length == 0 ? 0 : (text.length + 16) / 16 * 16;
        return ByteBuffer.allocate(SIZEOF_INOTIFY_EVENT + length)
                .order(ByteOrder.nativeOrder())
                .putInt(watch)
                .putInt(mask)
                .putInt(cookie)
                .putInt(length)
                .put(text)
                .array();
    }

    void write(byte... bytes) {
        if (writer.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new AssertionError("the pipe is full");
        }
    }

    /// Ends the stream.
    @Override
    public void close() {
        writer.close();
    }
}
