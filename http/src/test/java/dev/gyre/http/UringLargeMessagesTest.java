package dev.gyre.http;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("io_uring")
class UringLargeMessagesTest extends LargeMessagesContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config.withBackend(BackendKind.IO_URING));
    }
}
