package dev.gyre.http;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

class EpollHttpExchangeTest extends HttpExchangeContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config.withBackend(BackendKind.EPOLL));
    }
}
