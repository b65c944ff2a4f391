package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

/// A descriptor that is kept for bad times: when numbers have run out, giving it up lets a waiting peer be accepted and
/// told so, instead of leaving it without an answer.
///
/// Loop thread only.
final class ReserveDescriptor implements AutoCloseable {
    private final Syscalls seam;
    private final OpenDescriptor listener;
    private @Nullable Descriptor kept;

    ReserveDescriptor(Syscalls seam, OpenDescriptor listener) {
        this.seam = seam;
        this.listener = listener;
        refill();
    }

    /// Accepts one waiting peer and closes it.
    ///
    /// @return how many that were: none if the reserve is gone, or nobody waits
    int shedOne() {
        close();
        int fd =
                listener.use(
                        number ->
                                seam.sockets()
                                        .get()
                                        .accept4(
                                                number,
                                                0,
                                                0,
                                                Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC));
        if (fd >= 0) {
            int _ = seam.kernels().get().close(fd);
        }
        refill();
        return fd >= 0 ? 1 : 0;
    }

    private void refill() {
        try {
            kept = NativeSockets.stream(seam, NativeSockets.localAddress(seam, listener));
        } catch (SystemCallException e) {
            kept = null; // Somebody else was faster. The next time it may be there again.
        }
    }

    @Override
    public void close() {
        Descriptor reserve = kept;
        kept = null;
        if (reserve != null) {
            reserve.close();
        }
    }
}
