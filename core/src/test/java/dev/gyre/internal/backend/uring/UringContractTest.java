package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.BackendContract;
import dev.gyre.internal.backend.Conduit;
import dev.gyre.internal.backend.RealConduit;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.BeforeEach;

/// The contract of all backends, on io_uring.
@On("io_uring")
class UringContractTest extends BackendContract {
    private final Plan plan = new Plan();
    private final FaultyUring uring = new FaultyUring(plan);

    @BeforeEach
    void requireUring() {
        assumeTrue(
                UringSupport.isAvailable(), "this kernel refuses io_uring: `gyre doctor` says why");
    }

    @Override
    protected Backend open() {
        SyscallFactories seam =
                new SyscallFactories(
                        () -> new FaultyKernel(plan),
                        SyscallFactories.LINUX.sockets(),
                        SyscallFactories.LINUX.files());
        return IoUringBackend.open(seam, uring, 16);
    }

    @Override
    protected boolean wakesToRegister() {
        return true;
    }

    @Override
    protected Conduit pipe() {
        return RealConduit.pipe();
    }

    @Override
    protected Conduit sockets() {
        return RealConduit.sockets();
    }

    @Override
    protected void nothingLeaked() {
        assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
        assertThat(uring.mapped()).as("memory the backend left mapped").isEmpty();
    }
}
