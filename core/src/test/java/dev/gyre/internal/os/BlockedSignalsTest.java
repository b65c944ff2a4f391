package dev.gyre.internal.os;

import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGUSR1;
import static dev.gyre.os.Signal.SIGWINCH;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultySignalCalls;
import dev.gyre.internal.sys.LinuxProcessCalls;
import dev.gyre.internal.sys.TestSignals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

class BlockedSignalsTest {
    private static final long USR1 = BlockedSignals.bit(SIGUSR1);
    private static final long WINCH = BlockedSignals.bit(SIGWINCH);
    private static final long INT = BlockedSignals.bit(SIGINT);

    @TempDir Path threads;

    private BlockedSignals blocked() {
        return new BlockedSignals(LinuxProcessCalls::new, threads);
    }

    private void thread(String id, String name, long mask) throws IOException {
        Path directory = Files.createDirectory(threads.resolve(id));
        Files.writeString(
                directory.resolve("status"),
                "Name:\t%s\nSigPnd:\t%016x\nSigBlk:\t%016x\nSigIgn:\t%016x\n"
                        .formatted(name, -1L, mask, -1L),
                StandardCharsets.ISO_8859_1);
    }

    @Test
    @Clause("Y-1")
    void among_aThreadThatLetsItIn_isNotBlocked() throws IOException {
        thread("1", "main", USR1 | WINCH | INT);
        thread("2", "worker", USR1);
        try (var _ = TestSignals.block(SIGUSR1);
                var _ = TestSignals.block(SIGWINCH)) {
            assertThat(blocked().among(USR1 | WINCH | INT)).isEqualTo(USR1);
            assertThat(blocked().among(WINCH)).isZero();
        }
    }

    @Test
    void among_whatThisThreadLetsIn_looksAtNoOther() throws IOException {
        Files.createFile(threads.resolve("no directory: looking would fail"));
        assertThat(blocked().among(USR1)).isZero();
    }

    @Test
    void among_aThreadThatEndedMeanwhile_countsAsBlocking() throws IOException {
        thread("1", "main", USR1);
        Files.createDirectory(threads.resolve("2"));
        try (var _ = TestSignals.block(SIGUSR1)) {
            assertThat(blocked().among(USR1)).isEqualTo(USR1);
        }
    }

    @Test
    void among_aThreadWhoseNameIsCutInTheMiddleOfACharacter_isRead() throws IOException {
        thread("1", "SigBl\u00c3", USR1);
        try (var _ = TestSignals.block(SIGUSR1)) {
            assertThat(blocked().among(USR1)).isEqualTo(USR1);
        }
    }

    @Test
    @Clause("Y-1")
    void among_threadsThatCannotBeRead_failsInsteadOfGuessing() throws IOException {
        try (var _ = TestSignals.block(SIGUSR1)) {
            Files.createDirectory(threads.resolve("1"));
            Files.createFile(threads.resolve("1/status"));
            assertThatThrownBy(() -> blocked().among(USR1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("[SIGUSR1]")
                    .hasMessageContaining("mount /proc");
            assertThatThrownBy(
                            () ->
                                    new BlockedSignals(
                                                    LinuxProcessCalls::new,
                                                    threads.resolve("absent"))
                                            .among(USR1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("absent");
        }
    }

    @Test
    void among_maskRefused_saysSo() {
        FaultySignalCalls calls =
                new FaultySignalCalls(
                        new FaultyKernel.Plan().fail("pthread_sigmask", Errno.EINVAL));
        assertThatThrownBy(() -> new BlockedSignals(() -> calls, threads).among(USR1))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("pthread_sigmask: EINVAL");
    }

    @Test
    void among_thisProcess_isWhatItsThreadsSay() {
        // The other threads of this JVM do not block it.
        BlockedSignals real =
                new BlockedSignals(LinuxProcessCalls::new, Path.of("/proc/self/task"));
        try (var _ = TestSignals.block(SIGWINCH)) {
            assertThat(real.among(WINCH)).isZero();
        }
    }
}
