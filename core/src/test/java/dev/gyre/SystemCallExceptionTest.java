package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.SystemCallException.Kind;
import dev.gyre.internal.sys.Errno;

import org.junit.jupiter.api.Test;

class SystemCallExceptionTest {
    @Test
    @Clause("E-1")
    void message_namesCallDescriptorErrnoAndRemedy() {
        SystemCallException refusal = new SystemCallException("epoll_ctl(ADD)", Errno.EMFILE, 17);
        assertThat(refusal)
                .hasMessageStartingWith("epoll_ctl(ADD) on descriptor 17: EMFILE (24): ")
                .hasMessageMatching(".*raise the open-file limit \\(ulimit -n\\), now \\d+");
        assertThat(refusal.call()).isEqualTo("epoll_ctl(ADD)");
        assertThat(refusal.errno()).isEqualTo(24);
        assertThat(refusal.errnoName()).isEqualTo("EMFILE");
        assertThat(refusal.fd()).isEqualTo(17);
    }

    @Test
    @Clause("E-1")
    void message_withoutDescriptorOrHint_isPlain() {
        assertThat(new SystemCallException("eventfd", Errno.EINVAL, SystemCallException.NO_FD))
                .hasMessage("eventfd: EINVAL (22)");
        assertThat(new SystemCallException("fork", 999, SystemCallException.NO_FD))
                .hasMessage("fork: errno 999 (999)");
    }

    @Test
    @Clause({"E-1", "N-6"})
    void stackTrace_ofWhatAPeerDid_isNotTakenAndOfOurOwnDoingIs() {
        SystemCallException reset = new SystemCallException("recv", Errno.ECONNRESET, 17);
        assertThat(reset.getStackTrace()).isEmpty();
        assertThat(reset)
                .hasMessageStartingWith("recv on descriptor 17: ECONNRESET (104)")
                .hasToString(SystemCallException.class.getName() + ": " + reset.getMessage());
        reset.addSuppressed(new IllegalStateException("what went wrong besides"));
        assertThat(reset.getSuppressed()).hasSize(1);
        assertThat(new SystemCallException("recv", Errno.EBADF, 17).getStackTrace()).isNotEmpty();
    }

    @Test
    @Clause("E-1")
    void kind_ofAnErrno_decidesThePolicy() {
        assertThat(Errno.kind(Errno.EINTR)).isEqualTo(Kind.RETRYABLE);
        assertThat(Errno.kind(Errno.EAGAIN)).isEqualTo(Kind.RETRYABLE);
        assertThat(Errno.kind(Errno.ECONNRESET)).isEqualTo(Kind.CONNECTION);
        assertThat(Errno.kind(Errno.EPIPE)).isEqualTo(Kind.CONNECTION);
        assertThat(Errno.kind(Errno.EMFILE)).isEqualTo(Kind.RESOURCE);
        assertThat(Errno.kind(Errno.ENOMEM)).isEqualTo(Kind.RESOURCE);
        assertThat(Errno.kind(Errno.EBADF)).isEqualTo(Kind.PROGRAM);
        assertThat(Errno.kind(999)).isEqualTo(Kind.PROGRAM);
        assertThat(new SystemCallException("accept4", Errno.ENFILE, 3).kind())
                .isEqualTo(Kind.RESOURCE);
    }
}
