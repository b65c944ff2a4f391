package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.stream.Stream;

/// The set-up of a ring makes several calls, and a container may refuse any of them.
@On("io_uring")
class UringRefusalTest {
    private final Plan plan = new Plan();
    private final SyscallFactories seam =
            new SyscallFactories(
                    () -> new FaultyKernel(plan),
                    SyscallFactories.LINUX.sockets(),
                    SyscallFactories.LINUX.files());

    /// The call to refuse: its name, which occurrence, and the errno.
    private String refusedCall = "";

    private int refusedTurn;
    private int refusedErrno;
    private int turn;

    private final FaultyUring uring =
            new FaultyUring(plan) {
                @Override
                public synchronized int setup(int entries, long paramsAddress) {
                    return isRefused("io_uring_setup")
                            ? -refusedErrno
                            : super.setup(entries, paramsAddress);
                }

                @Override
                public int register(int fd, int opcode, long argAddress, int count) {
                    return isRefused("io_uring_register")
                            ? -refusedErrno
                            : super.register(fd, opcode, argAddress, count);
                }

                @Override
                public synchronized long mmap(long length, int fd, long offset) {
                    return isRefused("mmap") ? -refusedErrno : super.mmap(length, fd, offset);
                }

                @Override
                public int madvise(long address, long length, int advice) {
                    return isRefused("madvise")
                            ? -refusedErrno
                            : super.madvise(address, length, advice);
                }
            };

    private boolean isRefused(String call) {
        return call.equals(refusedCall) && ++turn == refusedTurn;
    }

    private void refuse(String call, int at, int errno) {
        refusedCall = call;
        refusedTurn = at;
        refusedErrno = errno;
    }

    @BeforeEach
    void requireUring() {
        assumeTrue(
                UringSupport.isAvailable(), "this kernel refuses io_uring: `gyre doctor` says why");
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
        assertThat(uring.mapped()).as("memory the backend left mapped").isEmpty();
    }

    private static Stream<Arguments> steps() {
        List<Integer> errors = List.of(Errno.EPERM, Errno.ENOSYS, Errno.ENOMEM);
        return errors.stream()
                .flatMap(
                        errno ->
                                Stream.of(
                                        Arguments.of("io_uring_setup", 1, errno),
                                        Arguments.of("io_uring_register", 1, errno),
                                        Arguments.of("mmap", 1, errno),
                                        Arguments.of("mmap", 2, errno),
                                        Arguments.of("eventfd", 1, errno),
                                        Arguments.of("epoll_create1", 1, errno)));
    }

    @ParameterizedTest
    @MethodSource("steps")
    @Clause({"B-2", "B-4", "B-7", "E-3"})
    void open_refusedAtAnyStep_givesBackWhatItHadAndSaysWhy(String call, int at, int errno) {
        refuse(call, at, errno);
        plan.fail(call.startsWith("e") ? call : "none", errno);
        assertThatThrownBy(() -> IoUringBackend.open(seam, uring, 16))
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> {
                            assertThat(e.call()).startsWith(call);
                            assertThat(e.errno()).isEqualTo(errno);
                        });
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EPERM, Errno.ENOSYS, Errno.ENOMEM})
    @Clause({"B-4", "E-1"})
    void enabling_refused_failsTheWaitAndCanBeTriedAgain(int errno) {
        IoUringBackend backend = IoUringBackend.open(seam, uring, 16);
        refuse("io_uring_register", 1, errno);
        turn = 0;
        assertThatThrownBy(backend::pollNow)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENABLE_RINGS");
        backend.pollNow();
        backend.close();
    }

    @Test
    @Clause("B-4")
    void memory_thatMayNotBeKeptFromChildren_isUsedAllTheSame() {
        refuse("madvise", 1, Errno.EINVAL);
        IoUringBackend backend = IoUringBackend.open(seam, uring, 16);
        backend.pollNow();
        backend.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {IoUringAbi.IORING_OP_POLL_ADD, IoUringAbi.IORING_OP_ASYNC_CANCEL})
    @Clause({"B-2", "B-4"})
    void open_withoutWhatWaitingNeeds_isRefused(int opcode) {
        uring.withoutOpcodes(opcode);
        assertThatThrownBy(() -> IoUringBackend.open(seam, uring, 16))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENOSYS");
    }
}
