package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxSocketCalls;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;

/// Urgent data precedes reads, whichever the kernel reports first: kqueue has an event per filter,
/// and the two may be in different batches.
@On("epoll")
class ReadinessUrgentDataTest {
    private final LinuxPollCalls kernel = new LinuxPollCalls();
    private final LinuxSocketCalls sockets = new LinuxSocketCalls();
    private final FdPair pair = new FdPair();
    private final MemorySegment memory = Memory.allocate(16);
    private final ReadinessOperations operations =
            new ReadinessOperations(
                    new ScriptedBackend(), SyscallFactories.LINUX, new TestLoopContext());

    @BeforeEach
    void connect() {
        int type = Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
        assertThat(kernel.socketpair(Linux.AF_UNIX, type, 0, pair.address())).isZero();
    }

    @AfterEach
    void close() {
        kernel.close(pair.first());
        kernel.close(pair.second());
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Readiness.READ,
                Readiness.READ | Readiness.URGENT,
                Readiness.READ | Readiness.END,
                Readiness.READ | Readiness.END | Readiness.URGENT
            })
    @Clause("O-2")
    void event_whenUrgentAndOtherDataArePending_completesTheUrgentReadFirst(int ready) {
        DescriptorState descriptor = operations.open(pair.first(), Traits.SOCKET | Traits.STREAM);
        Request urgent = started(descriptor, Opcode.READ_URGENT, 1);
        Request read = started(descriptor, Opcode.READ, 8);
        assertThat(sockets.send(pair.second(), memory.address(), 3, 0)).isEqualTo(3);
        assumeTrue(
                sockets.send(pair.second(), memory.address(), 1, Linux.MSG_OOB) == 1,
                "Unix sockets have no urgent data before Linux 5.15");

        operations.onReady(descriptor, ready);

        assertThat(operations.pollCompleted()).isSameAs(urgent);
        assertThat(urgent.result).isEqualTo(1);
        assertThat(operations.pollCompleted()).isSameAs(read);
        assertThat(read.result).isEqualTo(3);
    }

    private Request started(DescriptorState descriptor, Opcode opcode, int bytes) {
        Request request = new Request(callback -> {});
        request.opcode = opcode;
        request.address = memory.address() + 8;
        request.length = bytes;
        operations.start(descriptor, request);
        return request;
    }
}
