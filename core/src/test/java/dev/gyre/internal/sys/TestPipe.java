package dev.gyre.internal.sys;

import java.lang.foreign.MemorySegment;

/// A real pipe, for tests that need a descriptor.
public final class TestPipe implements AutoCloseable {
    private final PollCalls kernel = new LinuxPollCalls();
    private final MemorySegment memory = Memory.allocate(16);
    private final int reader;
    private final int writer;

    public TestPipe() {
        int result = kernel.pipe2(memory.address(), Linux.O_NONBLOCK | Linux.O_CLOEXEC);
        if (result < 0) {
            throw new AssertionError("pipe2: " + Errno.name(-result));
        }
        reader = Memory.getInt(memory.address());
        writer = Memory.getInt(memory.address() + 4);
    }

    public int reader() {
        return reader;
    }

    public int writer() {
        return writer;
    }

    public void write() {
        require(1, kernel.write(writer, memory.address(), 1));
    }

    public void read() {
        require(1, kernel.read(reader, memory.address(), 1));
    }

    private static void require(long expected, long result) {
        if (result != expected) {
            throw new AssertionError("expected " + expected + " but was " + result);
        }
    }

    public void closeReader() {
        require(0, kernel.close(reader));
    }

    public void closeWriter() {
        require(0, kernel.close(writer));
    }

    @Override
    public void close() {
        closeReader();
        closeWriter();
    }
}
