package dev.gyre.http;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("epoll")
class EpollHttpServerGroupTest extends HttpServerGroupContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.EPOLL;
    }
}
