package dev.gyre.internal.io;

import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Requests;
import dev.gyre.internal.sys.NativeBytes;

import org.jspecify.annotations.Nullable;

/// The loop's receive buffers as users see them: one object each, made when first lent.
///
/// Loop thread only.
final class LentBuffers {
    private static final String OURS =
            "the loop again: what Receive.keep() was not asked for is valid in its callback only";

    private final Requests requests;
    private @Nullable NativeBuffer[] views;

    LentBuffers(Requests requests) {
        this.requests = requests;
        views = new @Nullable NativeBuffer[0];
    }

    /// The view of a buffer that the kernel has put so many bytes into.
    NativeBuffer lend(int number, long bytes) {
        ReceiveBuffers buffers = requests.buffers();
        if (views.length == 0) {
            views = new @Nullable NativeBuffer[buffers.count()];
        }
        NativeBuffer view = views[number];
        if (view == null) {
            view = new NativeBuffer(new NativeBytes(buffers.memory(number)), lent -> give(number));
            views[number] = view;
        }
        view.takeBack();
        view.clear();
        view.filled(bytes);
        return view;
    }

    /// It is the loop's again.
    void give(int number) {
        NativeBuffer view = views[number];
        assert view != null && !view.isInFlight() : "given back twice";
        view.withhold(OURS);
        requests.giveBack(number);
    }
}
