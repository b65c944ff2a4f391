package dev.gyre.http;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

class EpollHttpClientStreamsTest extends HttpClientStreamsContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config.withBackend(BackendKind.EPOLL));
    }
}
