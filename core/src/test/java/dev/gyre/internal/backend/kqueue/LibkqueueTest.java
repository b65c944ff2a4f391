package dev.gyre.internal.backend.kqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.conformance.On;
import dev.gyre.internal.backend.BackendContract;
import dev.gyre.internal.backend.Conduit;
import dev.gyre.internal.backend.RealConduit;
import dev.gyre.internal.sys.BsdKqueueCalls;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyKqueue;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.BeforeAll;

/// The contract over the real calls: those of the system, if it has kqueue, or of a library that
/// emulates it on Linux. Run with `-Dgyre.kqueue.library=libkqueue.so.0
/// -Dgyre.kqueue.flavour=libkqueue`; without, nothing is tested.
@On("kqueue")
class LibkqueueTest extends BackendContract {
    private final Plan plan = new Plan();

    @BeforeAll
    static void aLibraryIsNamed() {
        assumeTrue(
                System.getProperty(BsdKqueueCalls.LIBRARY_PROPERTY) != null,
                "no kqueue here: name a library by -Dgyre.kqueue.library, and its flavour");
    }

    @Override
    protected KqueueBackend open() {
        KqueueFlavour flavour = KqueueFlavour.choose();
        return KqueueBackend.open(
                () -> new FaultyKqueue(new BsdKqueueCalls(flavour), plan),
                flavour,
                SyscallFactories.LINUX,
                16);
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
    }
}
