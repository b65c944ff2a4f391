package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

class ExitTest {
    @Test
    @Clause("Y-1")
    void text_isForPeople() {
        assertThat(new Exit.Code(0)).hasToString("exited with 0");
        assertThat(new Exit.Killed(9, false)).hasToString("killed by SIGKILL");
        assertThat(new Exit.Killed(11, true)).hasToString("killed by SIGSEGV, core dumped");
        assertThat(new Exit.Killed(40, false)).hasToString("killed by signal 40");
        assertThat(new Exit.Unknown()).hasToString("exited with unknown status");
    }

    @Test
    @Clause("Y-1")
    void success_isCodeZeroAlone() {
        assertThat(new Exit.Code(0).isSuccess()).isTrue();
        assertThat(new Exit.Code(1).isSuccess()).isFalse();
        assertThat(new Exit.Killed(15, false).isSuccess()).isFalse();
        assertThat(new Exit.Unknown().isSuccess()).isFalse();
    }
}
