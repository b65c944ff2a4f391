package dev.gyre.internal.backend;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;

import java.lang.foreign.MemorySegment;

/// A conduit of the real kernel.
public final class RealConduit implements Conduit {
    private final PollCalls kernel = new LinuxPollCalls();
    private final MemorySegment memory = Memory.allocate(8);
    private final int reader;
    private final int writer;
    private boolean readerOpen = true;
    private boolean writerOpen = true;

    private RealConduit(FdPair pair) {
        reader = pair.first();
        writer = pair.second();
    }

    public static Conduit pipe() {
        FdPair pair = new FdPair();
        int flags = Linux.O_NONBLOCK | Linux.O_CLOEXEC;
        require(0, new LinuxPollCalls().pipe2(pair.address(), flags));
        return new RealConduit(pair);
    }

    public static Conduit sockets() {
        FdPair pair = new FdPair();
        int type = Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
        require(0, new LinuxPollCalls().socketpair(Linux.AF_UNIX, type, 0, pair.address()));
        return new RealConduit(pair);
    }

    private static void require(long expected, long result) {
        if (result != expected) {
            throw new AssertionError(
                    "expected " + expected + " but was " + result + Errno.name((int) -result));
        }
    }

    @Override
    public int reader() {
        return reader;
    }

    @Override
    public int writer() {
        return writer;
    }

    @Override
    public void write() {
        require(1, kernel.write(writer, memory.address(), 1));
    }

    @Override
    public void read() {
        require(1, kernel.read(reader, memory.address(), 1));
    }

    @Override
    public void closeReader() {
        if (readerOpen) {
            readerOpen = false;
            require(0, kernel.close(reader));
        }
    }

    @Override
    public void closeWriter() {
        if (writerOpen) {
            writerOpen = false;
            require(0, kernel.close(writer));
        }
    }

    @Override
    public void close() {
        closeReader();
        closeWriter();
    }
}
