package dev.gyre;

import dev.gyre.conformance.On;

@On("io_uring")
class UringLoopGroupTest extends ThreadedLoopGroupContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.IO_URING;
    }
}
