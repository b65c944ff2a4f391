package dev.gyre.io;

import dev.gyre.BackendKind;
import dev.gyre.conformance.On;

@On("epoll")
class EpollGroupMoveTest extends GroupMoveContract {
    @Override
    protected BackendKind backend() {
        return BackendKind.EPOLL;
    }
}
