package dev.gyre.io;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("epoll")
class EpollGroupListenerTest extends GroupListenerContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.EPOLL;
    }
}
