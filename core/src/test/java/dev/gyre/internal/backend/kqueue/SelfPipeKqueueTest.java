package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.KqueueFlavour;

/// The contract where the kernel has no events of our own: a pipe wakes.
class SelfPipeKqueueTest extends FakeKqueueContract {
    SelfPipeKqueueTest() {
        super(KqueueFlavour.MACOS);
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
    }
}
