package dev.gyre.internal.backend.epoll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.EventfdWakeup;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.Linux;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@On("epoll")
class WakeupTest {
    private final Plan plan = new Plan();
    private final FaultyKernel kernel = new FaultyKernel(plan);
    private final int fd = kernel.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
    private final Wakeup signal = new EventfdWakeup(kernel, fd);

    @AfterEach
    void close() {
        signal.close();
        assertThat(plan.open()).isEmpty();
    }

    @Test
    @Clause("Q-6")
    void signal_whileOneIsPending_writesNothingMore() {
        signal.signal();
        signal.signal();
        signal.signal();
        assertThat(plan.count("write")).isEqualTo(1);
        assertThat(signal.sentCount()).isEqualTo(1);
        signal.drained();
        signal.signal();
        assertThat(plan.count("write")).isEqualTo(2);
    }

    @Test
    @Clause("Q-6")
    void signal_interrupted_triesAgain() {
        plan.fail("write", Errno.EINTR, 3);
        signal.signal();
        assertThat(plan.count("write")).isEqualTo(4);
        assertThat(signal.sentCount()).isEqualTo(1);
    }

    @Test
    @Clause("Q-6")
    void signal_withAFullCounter_emptiesItAndTriesAgain() {
        plan.fail("write", Errno.EAGAIN, 2);
        signal.signal();
        assertThat(plan.count("read")).isEqualTo(2);
        assertThat(signal.sentCount()).isEqualTo(1);
    }

    @Test
    @Clause("Q-6")
    void signal_onABadDescriptor_isShutdownAndClearsNothing() {
        plan.fail("write", Errno.EBADF);
        signal.signal();
        signal.signal();
        assertThat(plan.count("write")).as("the flag stayed set").isEqualTo(1);
        assertThat(signal.sentCount()).isZero();
    }

    @Test
    @Clause("Q-6")
    void signal_refusedForAnotherReason_isReportedAndTheNextOneTries() {
        plan.fail("write", Errno.EIO);
        signal.signal();
        assertThat(signal.sentCount()).isZero();
        signal.signal();
        assertThat(signal.sentCount()).isEqualTo(1);
    }

    @Test
    @Clause("Q-6")
    void signal_cutShortByTheJvm_leavesItToTheNextOne() {
        plan.answer(
                "write",
                () -> {
                    throw new StackOverflowError();
                });
        assertThatThrownBy(signal::signal).isInstanceOf(StackOverflowError.class);
        signal.signal();
        assertThat(signal.sentCount()).isEqualTo(1);
    }

    @Test
    @Clause("Q-6")
    void signal_afterClose_writesToNobodysDescriptor() {
        signal.close();
        // Another descriptor has the number now.
        int successor = kernel.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
        assertThat(successor).isEqualTo(fd);
        signal.signal();
        assertThat(plan.count("write")).isZero();
        signal.close();
        assertThat(plan.open()).as("a second close left the successor alone").contains(successor);
        kernel.close(successor);
    }
}
