package dev.gyre.internal.backend.kqueue;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.io.Descriptor;
import dev.gyre.io.OperationContract;
import dev.gyre.io.OperationEndsContract;
import dev.gyre.io.OperationMisuseContract;

import org.junit.jupiter.api.Nested;

import java.util.List;

/// Operations over kqueue in memory, which has no network: connections are pairs.
@On("kqueue")
class KqueueOperationTest {
    @Nested
    class Operating extends OperationContract {
        private final FakeWorld world = new FakeWorld(KqueueFlavour.MACOS);

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Override
        protected boolean hasNetwork() {
            return false;
        }

        @Override
        protected List<Descriptor> connection() {
            return pair();
        }
    }

    @Nested
    class Ending extends OperationEndsContract {
        private final FakeWorld world = new FakeWorld(KqueueFlavour.MACOS);

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Override
        protected boolean hasNetwork() {
            return false;
        }

        @Override
        protected List<Descriptor> connection() {
            return pair();
        }
    }

    @Nested
    class Misusing extends OperationMisuseContract {
        private final FakeWorld world = new FakeWorld(KqueueFlavour.MACOS);

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Override
        protected boolean hasNetwork() {
            return false;
        }

        @Override
        protected List<Descriptor> connection() {
            return pair();
        }
    }
}
