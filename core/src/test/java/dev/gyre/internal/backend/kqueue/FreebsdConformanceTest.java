package dev.gyre.internal.backend.kqueue;

import dev.gyre.conformance.Conformance;
import dev.gyre.conformance.On;
import dev.gyre.conformance.World;
import dev.gyre.internal.sys.KqueueFlavour;

@On("kqueue")
class FreebsdConformanceTest extends Conformance {
    @Override
    protected World newWorld() {
        return new FakeWorld(KqueueFlavour.FREEBSD);
    }
}
