package dev.gyre.internal.backend.kqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.conformance.On;
import dev.gyre.internal.backend.BackendContract;
import dev.gyre.internal.backend.Conduit;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyKqueue;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.SyscallFactories;

/// The contract over a kernel in memory.
@On("kqueue")
abstract class FakeKqueueContract extends BackendContract {
    final Plan plan = new Plan();
    final FakeKqueue kernel;

    FakeKqueueContract(KqueueFlavour flavour) {
        kernel = new FakeKqueue(flavour);
    }

    @Override
    protected void nothingLeaked() {
        assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
    }

    @Override
    protected KqueueBackend open() {
        return KqueueBackend.open(
                () -> new FaultyKqueue(kernel, plan), kernel.flavour, SyscallFactories.LINUX, 16);
    }

    @Override
    protected Conduit pipe() {
        return new FakeConduit(kernel, FakeDescriptor.pipe());
    }

    @Override
    protected Conduit sockets() {
        return new FakeConduit(kernel, FakeDescriptor.sockets());
    }

    @Override
    protected void withRegularFile(FileUser user) {
        int fd = kernel.open(FakeDescriptor.file());
        user.use(fd);
        kernel.close(fd);
    }
}
