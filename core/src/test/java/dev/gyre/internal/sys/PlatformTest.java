package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.util.List;

class PlatformTest {
    @Test
    void requireSupported_onLinuxOfBothArchitectures_passes() {
        assertThatCode(() -> Platform.requireSupported("Linux", "amd64"))
                .doesNotThrowAnyException();
        assertThatCode(() -> Platform.requireSupported("Linux", "aarch64"))
                .doesNotThrowAnyException();
    }

    @Test
    void requireSupported_elsewhere_namesWhatIsMissing() {
        assertThatThrownBy(() -> Platform.requireSupported("Plan 9", "aarch64"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Plan 9");
        assertThatThrownBy(() -> Platform.requireSupported("Linux", "riscv64"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("riscv64");
    }

    @Test
    @Clause("B-2")
    void caveat_whereKqueueIs_saysWhatWasNeverTested() {
        for (String system : List.of("Mac OS X", "FreeBSD")) {
            assertThatCode(() -> Platform.requireSupported(system, "aarch64"))
                    .doesNotThrowAnyException();
            assertThat(Platform.caveat(system))
                    .hasValueSatisfying(
                            why -> assertThat(why).contains(system, "simulated kernel", "sockets"));
        }
        assertThat(Platform.caveat("Linux")).isEmpty();
    }
}
