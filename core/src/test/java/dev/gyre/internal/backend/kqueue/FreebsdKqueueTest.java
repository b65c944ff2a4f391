package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.KqueueFlavour;

/// The contract with the layout and the numbers of FreeBSD.
class FreebsdKqueueTest extends FakeKqueueContract {
    FreebsdKqueueTest() {
        super(KqueueFlavour.FREEBSD);
    }
}
