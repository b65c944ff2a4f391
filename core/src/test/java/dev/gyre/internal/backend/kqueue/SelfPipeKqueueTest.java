package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.KqueueFlavour;

/// The contract on a kernel without user events: a pipe wakes.
class SelfPipeKqueueTest extends FakeKqueueContract {
    SelfPipeKqueueTest() {
        super(KqueueFlavour.MACOS);
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
    }
}
