package dev.gyre.internal.backend.kqueue;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.World;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Descriptor;

/// Loops over kqueue in memory.
final class FakeWorld implements World {
    final FakeKqueue kernel;
    private final SyscallFactories seam;

    FakeWorld(KqueueFlavour flavour) {
        kernel = new FakeKqueue(flavour);
        seam = FakeSeam.over(kernel);
    }

    @Override
    public EventLoop open(LoopConfig config) {
        return Loop.open(
                config,
                KqueueBackend.open(
                        () -> kernel, kernel.flavour, seam, seam, config.eventsPerWait()));
    }

    @Override
    public Descriptor file(EventLoop loop) {
        return OpenDescriptor.of(seam.kernels(), kernel.open(FakeDescriptor.file()), true);
    }

    @Override
    public long descriptors() {
        return kernel.openNumbers().size();
    }
}
