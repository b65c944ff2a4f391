package dev.gyre.http;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("io_uring")
class UringHttpServerGroupTest extends HttpServerGroupContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.IO_URING;
    }
}
