package dev.gyre.io;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("epoll")
class EpollGroupLoadTest extends GroupLoadContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.EPOLL;
    }
}
