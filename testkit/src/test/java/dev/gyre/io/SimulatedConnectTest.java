package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.testkit.internal.SimulatedKernel;

import java.util.HashMap;
import java.util.Map;

@On("simulated")
class SimulatedConnectTest extends ConnectContract {
    private final Map<EventLoop, SimulatedKernel> kernels = new HashMap<>();

    @Override
    protected EventLoop open(LoopConfig config) {
        SimulatedKernel kernel = new SimulatedKernel(1);
        EventLoop loop = SimulatedLoops.open(config, kernel);
        kernels.put(loop, kernel);
        return loop;
    }

    @Override
    protected long openDescriptors(EventLoop of) {
        return kernels.get(of).openDescriptors();
    }
}
