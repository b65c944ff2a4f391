package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Backends.Choice;
import dev.gyre.internal.loop.Backends.Openers;
import dev.gyre.internal.sys.Errno;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

class BackendsTest {
    private static final LoopConfig URING = LoopConfig.DEFAULT.withBackend(BackendKind.IO_URING);

    private static final LoopConfig KQUEUE = LoopConfig.DEFAULT.withBackend(BackendKind.KQUEUE);

    private final Backend epoll = new ScriptedBackend();
    private final Backend uring = new ScriptedBackend();
    private final Backend kqueue = new ScriptedBackend();
    private final Openers linux =
            new Openers(BackendKind.EPOLL, () -> epoll, () -> uring, () -> kqueue);
    private final Openers macos =
            new Openers(BackendKind.KQUEUE, () -> epoll, () -> uring, () -> kqueue);

    private Openers refusing(RuntimeException refusal) {
        Supplier<Backend> refuses =
                () -> {
                    throw refusal;
                };
        return new Openers(BackendKind.EPOLL, () -> epoll, refuses, refuses);
    }

    @Test
    @Clause("B-2")
    void open_withNothingSaid_isWhatTheSystemHas() {
        Choice choice = Backends.open(LoopConfig.DEFAULT, null, linux);
        assertThat(choice.backend()).isSameAs(epoll);
        assertThat(choice.fallback()).isEmpty();
        assertThat(Backends.open(LoopConfig.DEFAULT, null, macos).backend()).isSameAs(kqueue);
    }

    @Test
    @Clause("B-2")
    void open_withAnOption_doesNotAskTheProperty() {
        Choice choice = Backends.open(URING, "epoll", linux);
        assertThat(choice.backend()).isSameAs(uring);
        assertThat(choice.fallback()).isEmpty();
        assertThat(Backends.open(KQUEUE, "epoll", linux).backend()).isSameAs(kqueue);
    }

    @Test
    @Clause("B-2")
    void open_withAProperty_takesWhatItNames() {
        for (String name : List.of("epoll", "io_uring", "kqueue")) {
            Backend expected =
                    Map.of("epoll", epoll, "io_uring", uring, "kqueue", kqueue).get(name);
            assertThat(Backends.open(LoopConfig.DEFAULT, name, linux).backend()).isSameAs(expected);
        }
    }

    @Test
    @Clause("B-2")
    void open_withAnUnknownProperty_namesTheKnownOnes() {
        assertThatThrownBy(() -> Backends.open(LoopConfig.DEFAULT, "select", linux))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gyre.backend")
                .hasMessageContaining("\"select\"")
                .hasMessageContaining("epoll, io_uring, kqueue");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EPERM, Errno.ENOSYS, Errno.ENOMEM})
    @Clause("B-2")
    void open_refusedIoUring_fallsBackAndSaysWhyOnce(int errno) {
        try (LogCapture log = new LogCapture()) {
            Choice choice =
                    Backends.open(
                            URING.withName("edge"),
                            null,
                            refusing(new SystemCallException("io_uring_setup", errno, -1)));
            assertThat(choice.backend()).isSameAs(epoll);
            assertThat(choice.fallback())
                    .hasValueSatisfying(
                            why -> assertThat(why).contains("io_uring_setup", Errno.name(errno)));
            assertThat(log.messages())
                    .singleElement()
                    .satisfies(
                            line -> assertThat(line).contains("edge", "uses", Errno.name(errno)));
        }
    }

    @Test
    @Clause("B-2")
    void open_refusedIoUringThatIsRequired_isAnErrorThatSaysWhy() {
        LoopConfig requiring = LoopConfig.DEFAULT.withRequiredBackend(BackendKind.IO_URING);
        assertThat(Backends.open(requiring, "epoll", linux).backend()).isSameAs(uring);
        var refusal = new SystemCallException("io_uring_setup", Errno.EPERM, -1);
        try (LogCapture log = new LogCapture()) {
            assertThatThrownBy(() -> Backends.open(requiring, null, refusing(refusal)))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageStartingWith("io_uring is refused: ")
                    .hasMessageContaining("EPERM")
                    .hasCause(refusal);
            assertThat(log.messages()).as("told by the error").isEmpty();
        }
        Openers none =
                new Openers(
                        BackendKind.IO_URING, () -> epoll, refusing(refusal).uring(), () -> kqueue);
        assertThatThrownBy(() -> Backends.open(requiring, null, none))
                .as("also where it is what everybody gets")
                .isInstanceOf(UnsupportedOperationException.class);
        LoopConfig wishing = requiring.withBackend(BackendKind.IO_URING);
        assertThat(Backends.open(wishing, null, refusing(refusal)).backend())
                .as("the later word counts")
                .isSameAs(epoll);
    }

    @Test
    @Clause("B-2")
    void open_withAPreference_takesItWhereNobodyNamesAnother() {
        LoopConfig preferring = LoopConfig.DEFAULT.withPreferredBackend(BackendKind.IO_URING);
        assertThat(Backends.open(preferring, null, linux).backend()).isSameAs(uring);
        assertThat(Backends.open(preferring, "epoll", linux).backend()).isSameAs(epoll);
        assertThat(Backends.open(preferring.withBackend(BackendKind.KQUEUE), null, linux).backend())
                .isSameAs(kqueue);
        assertThat(Backends.open(preferring, null, macos).backend()).isSameAs(kqueue);
        assertThat(
                        Backends.open(
                                        LoopConfig.DEFAULT.withPreferredBackend(BackendKind.EPOLL),
                                        null,
                                        linux)
                                .backend())
                .isSameAs(epoll);
    }

    @Test
    @Clause("B-2")
    void open_refusedPreference_fallsBackAndSaysWhyWithoutWarning() {
        LoopConfig preferring = LoopConfig.DEFAULT.withPreferredBackend(BackendKind.IO_URING);
        try (LogCapture log = new LogCapture()) {
            Choice choice =
                    Backends.open(
                            preferring,
                            null,
                            refusing(new SystemCallException("io_uring_setup", Errno.EPERM, -1)));
            assertThat(choice.backend()).isSameAs(epoll);
            assertThat(choice.fallback())
                    .hasValueSatisfying(why -> assertThat(why).contains("EPERM"));
            assertThat(log.levels()).as("a container is no reason to warn").containsExactly("INFO");
            assertThat(log.messages())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("uses", "EPERM"));
        }
    }

    @Test
    @Clause("B-2")
    void open_kqueueOnLinuxWithoutALibrary_fallsBackAndNamesTheProperties() {
        assumeTrue(
                System.getProperty("gyre.kqueue.library") == null, "a library plays kqueue here");
        try (LogCapture _ = new LogCapture();
                EventLoop loop = EventLoop.open(KQUEUE)) {
            assertThat(loop.metrics().backend()).isEqualTo("epoll");
            assertThat(loop.metrics().backendFallback())
                    .hasValueSatisfying(
                            why ->
                                    assertThat(why)
                                            .contains("kqueue is refused")
                                            .contains("gyre.kqueue.library")
                                            .contains("gyre.kqueue.flavour"));
        }
    }

    @Test
    @Clause("B-2")
    void open_oneOfLinuxElsewhere_isAnError() {
        for (BackendKind kind : List.of(BackendKind.EPOLL, BackendKind.IO_URING)) {
            assertThatThrownBy(
                            () -> Backends.open(LoopConfig.DEFAULT.withBackend(kind), null, macos))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(kind.id())
                    .hasMessageContaining("kqueue");
        }
    }

    @Test
    @Clause("B-2")
    void metrics_ofALoop_nameItsBackend() {
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(BackendKind.EPOLL))) {
            assertThat(loop.metrics().backend()).isEqualTo("epoll");
            assertThat(loop.metrics().backendFallback()).isEmpty();
        }
    }
}
