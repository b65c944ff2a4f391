package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

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
        assertThatThrownBy(() -> Platform.requireSupported("Mac OS X", "aarch64"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Mac OS X");
        assertThatThrownBy(() -> Platform.requireSupported("Linux", "riscv64"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("riscv64");
    }
}
