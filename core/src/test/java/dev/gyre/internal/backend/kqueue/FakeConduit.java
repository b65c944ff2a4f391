package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.backend.Conduit;

/// A conduit of the kernel in memory.
final class FakeConduit implements Conduit {
    private final FakeKqueue kernel;
    private final int reader;
    private final int writer;
    private boolean readerOpen = true;
    private boolean writerOpen = true;

    FakeConduit(FakeKqueue kernel, FakeDescriptor[] ends) {
        this.kernel = kernel;
        reader = kernel.open(ends[0]);
        writer = kernel.open(ends[1]);
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
        require(1, kernel.write(writer, 0, 1));
    }

    @Override
    public void read() {
        require(1, kernel.read(reader, 0, 1));
    }

    private static void require(long expected, long result) {
        if (result != expected) {
            throw new AssertionError("expected " + expected + " but was " + result);
        }
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
