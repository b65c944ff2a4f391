package dev.gyre.io;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("io_uring")
class UringGroupListenerTest extends GroupListenerContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.IO_URING;
    }
}
