package dev.gyre.io;

import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.sys.SyscallFactories;

@On("epoll")
class EpollListenerTroubleTest extends ListenerTroubleContract {
    @Override
    protected Backend backend(
            SyscallFactories seam, LoopConfig config, boolean acceptsThroughSeam) {
        return EpollBackend.open(seam, config.eventsPerWait());
    }
}
