package dev.gyre.io;

import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.IoUring;
import dev.gyre.internal.sys.Syscalls;

@On("io_uring")
class UringListenerTroubleTest extends ListenerTroubleContract {
    @Override
    protected Backend backend(Syscalls seam, LoopConfig config, boolean acceptsThroughSeam) {
        UringLoops.open(config).close(); // Skips the test where it is refused.
        FaultyUring uring = new FaultyUring(plan);
        if (acceptsThroughSeam) {
            uring.withoutOpcodes(IoUring.IORING_OP_ACCEPT);
            return IoUringBackend.open(seam, uring, config.eventsPerWait());
        }
        // The ledger of a faulty kernel knows nothing of what the ring itself accepts.
        Syscalls real =
                new Syscalls(
                        Syscalls.LINUX.kernels(),
                        Syscalls.LINUX.sockets(),
                        Syscalls.LINUX.files(),
                        seam.limit());
        return IoUringBackend.open(real, uring, config.eventsPerWait());
    }
}
