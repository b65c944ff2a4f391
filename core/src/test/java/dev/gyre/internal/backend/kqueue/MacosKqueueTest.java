package dev.gyre.internal.backend.kqueue;

import dev.gyre.internal.sys.KqueueFlavour;

/// The contract with the layout and the numbers of macOS.
class MacosKqueueTest extends FakeKqueueContract {
    MacosKqueueTest() {
        super(KqueueFlavour.MACOS);
    }
}
