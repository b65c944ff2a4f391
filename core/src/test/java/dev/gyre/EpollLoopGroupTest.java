package dev.gyre;

import dev.gyre.conformance.On;

@On("epoll")
class EpollLoopGroupTest extends ThreadedLoopGroupContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.EPOLL;
    }
}
