package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.sys.Errno;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackendsTest {
    private static final LoopConfig URING = LoopConfig.DEFAULT.withBackend(BackendKind.IO_URING);

    private final Backend uring = new ScriptedBackend();

    @Test
    @Clause("B-2")
    void open_withNothingSaid_isEpoll() {
        Backends.Choice choice = Backends.open(LoopConfig.DEFAULT, null, () -> uring);
        assertThat(choice.backend().name()).isEqualTo("epoll");
        assertThat(choice.fallback()).isEmpty();
        choice.backend().close();
    }

    @Test
    @Clause("B-2")
    void open_withAnOption_doesNotAskTheProperty() {
        Backends.Choice choice = Backends.open(URING, "epoll", () -> uring);
        assertThat(choice.backend()).isSameAs(uring);
        assertThat(choice.fallback()).isEmpty();
    }

    @Test
    @Clause("B-2")
    void open_withAProperty_takesWhatItNames() {
        assertThat(Backends.open(LoopConfig.DEFAULT, "io_uring", () -> uring).backend())
                .isSameAs(uring);
    }

    @Test
    @Clause("B-2")
    void open_withAnUnknownProperty_namesTheKnownOnes() {
        assertThatThrownBy(() -> Backends.open(LoopConfig.DEFAULT, "select", () -> uring))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gyre.backend")
                .hasMessageContaining("\"select\"")
                .hasMessageContaining("epoll, io_uring");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EPERM, Errno.ENOSYS, Errno.ENOMEM})
    @Clause("B-2")
    void open_refusedIoUring_fallsBackAndSaysWhyOnce(int errno) {
        try (LogCapture log = new LogCapture()) {
            Backends.Choice choice =
                    Backends.open(
                            URING.withName("edge"),
                            null,
                            () -> {
                                throw new SystemCallException("io_uring_setup", errno, -1);
                            });
            assertThat(choice.backend().name()).isEqualTo("epoll");
            assertThat(choice.fallback())
                    .hasValueSatisfying(
                            why -> assertThat(why).contains("io_uring_setup", Errno.name(errno)));
            assertThat(log.messages())
                    .singleElement()
                    .satisfies(
                            line -> assertThat(line).contains("edge", "epoll", Errno.name(errno)));
            choice.backend().close();
        }
    }

    @Test
    @Clause("B-2")
    void metrics_ofALoop_nameItsBackend() {
        try (EventLoop loop = EventLoop.open()) {
            assertThat(loop.metrics().backend()).isEqualTo("epoll");
            assertThat(loop.metrics().backendFallback()).isEmpty();
        }
    }
}
