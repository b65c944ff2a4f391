package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.loop.Loop;
import dev.gyre.testkit.internal.SimulatedBackend;
import dev.gyre.testkit.internal.SimulatedKernel;

import java.util.HashMap;
import java.util.Map;

@On("simulated")
class SimulatedConnectTest extends ConnectContract {
    private final Map<EventLoop, SimulatedKernel> kernels = new HashMap<>();

    @Override
    protected EventLoop open(LoopConfig config) {
        SimulatedKernel kernel = new SimulatedKernel(1);
        EventLoop loop =
                Loop.open(
                        config.withExecutor(kernel::runOutside),
                        new SimulatedBackend(
                                kernel, config.eventsPerWait(), config.maxWait().toNanos()));
        kernels.put(loop, kernel);
        return loop;
    }

    @Override
    protected long openDescriptors(EventLoop of) {
        return kernels.get(of).openDescriptors();
    }
}
