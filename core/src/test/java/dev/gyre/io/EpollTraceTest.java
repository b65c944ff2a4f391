package dev.gyre.io;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("epoll")
class EpollTraceTest extends TraceContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config.withBackend(BackendKind.EPOLL));
    }
}
