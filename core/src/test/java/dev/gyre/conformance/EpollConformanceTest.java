package dev.gyre.conformance;

import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.SyscallFactories;

@On("epoll")
class EpollConformanceTest extends LinuxConformance {
    @Override
    protected World newWorld() {
        return config ->
                Loop.open(
                        config, EpollBackend.open(SyscallFactories.LINUX, config.eventsPerWait()));
    }
}
