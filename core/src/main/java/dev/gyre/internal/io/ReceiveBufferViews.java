package dev.gyre.internal.io;

import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.sys.NativeBytes;

import org.jspecify.annotations.Nullable;

/// The loop's receive buffers as users see them: one object each, made when first lent.
///
/// Loop thread only.
final class ReceiveBufferViews {
    private static final String OURS =
            "the loop again: what Receive.keep() was not asked for is valid in its callback only";

    private final OperationEngine requests;
    private final LoopOperations operations;

    /// Those that were not kept are lent again and again. Of one that was kept somebody may still have the view after
    /// its release, so that one is never used again.
    private @Nullable NativeBuffer[] views;

    ReceiveBufferViews(OperationEngine requests, LoopOperations operations) {
        this.requests = requests;
        this.operations = operations;
        views = new @Nullable NativeBuffer[0];
    }

    /// The view of a buffer that the kernel has put so many bytes into, for one callback.
    NativeBuffer lend(int number, long bytes) {
        ReceiveBuffers buffers = requests.buffers();
        if (views.length == 0) {
            views = new @Nullable NativeBuffer[buffers.count()];
        }
        NativeBuffer view = views[number];
        if (view == null) {
            NativeBytes memory = buffers.memory(number);
            view = new NativeBuffer(new RefCountedMemory(memory, () -> giveKept(number)));
            views[number] = view;
        }
        view.reopen();
        view.beginBorrowing();
        view.filled(bytes);
        return view;
    }

    /// It stays with the user after the callback.
    void keep(int number, NativeBuffer view) {
        view.keep();
        operations.leaks.watch(view);
        views[number] = null;
    }

    /// The callback is over, and it was not kept.
    void give(int number, NativeBuffer view) {
        view.endBorrowing(OURS);
        requests.releaseBuffer(number);
    }

    /// Any thread.
    private void giveKept(int number) {
        operations.onLoop(() -> requests.releaseBuffer(number));
    }
}
