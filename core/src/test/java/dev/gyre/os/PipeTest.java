package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.OpenPipe;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.OpenDescriptors;

import org.junit.jupiter.api.Test;

class PipeTest {
    @Test
    @Clause("Y-1")
    void open_givesEndsThatNeitherBlockNorAreInherited() {
        LinuxPollCalls kernel = new LinuxPollCalls();
        try (Pipe pipe = Pipe.open()) {
            for (int fd : new int[] {pipe.reader().fd(), pipe.writer().fd()}) {
                assertThat(kernel.fcntl(fd, Linux.F_GETFL, 0) & Linux.O_NONBLOCK).isNotZero();
                assertThat(kernel.fcntl(fd, Linux.F_GETFD, 0) & Linux.FD_CLOEXEC).isNotZero();
            }
        }
    }

    @Test
    @Clause({"Y-1", "E-1"})
    void open_refused_saysWhatToDoAndLeaksNothing() {
        Plan plan = new Plan();
        plan.fail("pipe2", Errno.EMFILE);
        long before = OpenDescriptors.count();
        assertThatThrownBy(() -> OpenPipe.open(() -> new FaultyKernel(plan), 0))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("pipe2: EMFILE")
                .hasMessageContaining("ulimit -n");
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }

    @Test
    @Clause("Y-1")
    void close_closesBothEnds_alsoTwice() {
        long before = OpenDescriptors.count();
        Pipe pipe = Pipe.open();
        pipe.close();
        pipe.close();
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }
}
