package dev.gyre.internal.io;

import dev.gyre.internal.backend.CompletionQueue;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

/// A backend with room for one request, which is through when the loop's actor says so.
///
/// Loop thread only.
final class OneRequest implements OperationEngine {
    private final CompletionQueue completions = new CompletionQueue();
    private final ReceiveBuffers none = new ReceiveBuffers(SyscallFactories.LINUX.memory(), 1, 64);
    private @Nullable Request pending;

    /// The kernel is through with it.
    void arrive(long result) {
        Request request = pending;
        if (request != null) {
            pending = null;
            completions.post(request, result, false);
        }
    }

    @Override
    public DescriptorState open(int fd, int traits) {
        DescriptorState opened = new DescriptorState((_, _) -> {});
        opened.open(fd, traits);
        return opened;
    }

    @Override
    public void start(DescriptorState descriptor, Request request) {
        request.begin(descriptor);
        request.fd = descriptor.fd;
        completions.onStarted();
        pending = request;
    }

    @Override
    public void startFile(Request request) {
        throw new AssertionError("no files here");
    }

    @Override
    public void cancel(Request request) {
        arrive(-Errno.ECANCELED);
    }

    @Override
    public void cancelAll(DescriptorState descriptor, @Nullable Object key, int kinds) {
        arrive(-Errno.ECANCELED);
    }

    @Override
    public void close(DescriptorState descriptor, Runnable released) {
        arrive(-Errno.ECANCELED);
        released.run();
    }

    @Override
    public void resume(Request request) {}

    @Override
    public CompletionQueue completions() {
        return completions;
    }

    @Override
    public void flush() {}

    @Override
    public ReceiveBuffers buffers() {
        return none;
    }

    @Override
    public void releaseBuffer(int buffer) {}

    @Override
    public void close() {}
}
