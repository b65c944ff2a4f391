package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.SyscallFactories;

@On("epoll")
class EpollDatagramTest extends DatagramContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return Loop.open(config, EpollBackend.open(SyscallFactories.LINUX, config.eventsPerWait()));
    }
}
