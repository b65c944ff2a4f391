package dev.gyre.io;

import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.SyscallFactories;

@On("io_uring")
class UringListenerTroubleTest extends ListenerTroubleContract {
    @Override
    protected Backend backend(
            SyscallFactories seam, LoopConfig config, boolean acceptsThroughSeam) {
        UringLoops.open(config).close(); // Skips the test where it is refused.
        FaultyUring uring = new FaultyUring(plan);
        if (acceptsThroughSeam) {
            uring.withoutOpcodes(IoUringAbi.IORING_OP_ACCEPT);
            return IoUringBackend.open(seam, uring, config.eventsPerWait());
        }
        // The ledger of a faulty kernel knows nothing of what the ring itself accepts.
        SyscallFactories real =
                new SyscallFactories(
                        SyscallFactories.LINUX.kernels(),
                        SyscallFactories.LINUX.sockets(),
                        SyscallFactories.LINUX.files(),
                        seam.limit());
        return IoUringBackend.open(real, uring, config.eventsPerWait());
    }
}
