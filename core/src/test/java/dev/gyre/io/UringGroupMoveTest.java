package dev.gyre.io;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("io_uring")
class UringGroupMoveTest extends GroupMoveContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.IO_URING;
    }
}
