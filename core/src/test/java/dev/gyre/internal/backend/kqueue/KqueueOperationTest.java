package dev.gyre.internal.backend.kqueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.OperationContract;
import dev.gyre.io.OperationEndsContract;
import dev.gyre.io.OperationFixture;
import dev.gyre.io.OperationMisuseContract;
import dev.gyre.io.operation.Operation;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import java.util.List;

/// Operations over kqueue in memory.
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
        protected boolean hasDatagrams() {
            return false;
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
        protected boolean hasDatagrams() {
            return false;
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
        protected boolean hasDatagrams() {
            return false;
        }
    }

    @Nested
    class FailingFilters extends OperationFixture {
        private final FakeWorld world = new FakeWorld(KqueueFlavour.FREEBSD);

        @Override
        protected EventLoop open(LoopConfig config) {
            return world.open(config);
        }

        @Test
        @Clause({"O-5", "B-5"})
        void reads_whoseFilterReportsAnError_failWithItAndTheNextOneIsArmedAnew() {
            List<Descriptor> pair = pair();
            operations.read(pair.get(1), Buffer.allocate(8), note("first")).start();
            operations.read(pair.get(1), Buffer.allocate(8), note("second")).start();
            settle();
            world.kernel.failFilter(pair.get(1).fd(), Kevent.EVFILT_READ, Errno.ENOBUFS);
            settle();
            assertThat(completed).containsExactly("first ENOBUFS", "second ENOBUFS");
            Operation third = operations.read(pair.get(1), Buffer.allocate(8), note("third"));
            third.start();
            settle();
            send(pair.get(0), "x");
            runUntilDone(third);
            assertThat(completed).last().isEqualTo("third 1");
        }

        @Test
        @Clause({"O-5", "B-5"})
        void write_whoseFilterReportsAnError_failsWithIt() {
            List<Descriptor> pair = pair();
            world.kernel.fill(pair.get(0).fd());
            operations.write(pair.get(0), bytes("blocked"), note("write")).start();
            settle();
            world.kernel.failFilter(pair.get(0).fd(), Kevent.EVFILT_WRITE, Errno.ENOMEM);
            settle();
            assertThat(completed).containsExactly("write ENOMEM");
        }
    }
}
