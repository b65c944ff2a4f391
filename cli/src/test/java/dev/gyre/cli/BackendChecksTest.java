package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.LinuxPollCalls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

final class BackendChecksTest {
    @TempDir Path directory;

    @Test
    void epoll_here_worksAndLeavesNoDescriptor() throws IOException {
        long before = descriptors("anon_inode");

        assertThat(LoopCheck.run(BackendKind.EPOLL).works()).isTrue();
        assertThat(descriptors("anon_inode")).isEqualTo(before);
    }

    @Test
    void waits_ofTheRealKernel_isWhatAnOpenLoopDoes() throws IOException {
        long before = descriptors("timerfd");
        try (EventLoop loop = EventLoop.open()) {
            boolean byTimerfd = descriptors("timerfd") > before;
            assertThat(loop.metrics().ticks()).isZero();
            assertThat(LoopCheck.waits(new LinuxPollCalls()))
                    .startsWith(byTimerfd ? "waits use a timerfd" : "waits use epoll_pwait2");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0,                    waits use epoll_pwait2",
        "-" + Errno.ENOSYS + ", waits use a timerfd",
        "-" + Errno.EPERM + ",  a container's seccomp profile"
    })
    void waits_asTheKernelAnswers_areNamed(int answer, String expected) {
        var scripted = new ScriptedKernel(Map.of("epollCreate1", 77, "epollPwait2", answer));

        assertThat(LoopCheck.waits(scripted.kernel())).contains(expected);
        assertThat(scripted.calls).containsExactly("epollCreate1", "epollPwait2", "close 77");
    }

    @Test
    void uring_allowed_isGivenBackAndThenALoopIsTried() {
        var scripted = new ScriptedKernel(Map.of("setup", 77));

        Finding finding =
                UringCheck.run(
                        scripted.kernel(),
                        scripted.uring(),
                        directory.resolve("absent"),
                        () -> Finding.works("a loop ran"));

        assertThat(finding.works()).isTrue();
        assertThat(finding.detail()).isEqualTo("a loop ran (features 0x0)");
        assertThat(scripted.calls).containsExactly("setup", "close 77");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2"})
    void uring_disabledBySysctl_namesTheSwitch(String value) throws IOException {
        Path disabled = Files.writeString(directory.resolve("io_uring_disabled"), value + "\n");

        assertThat(refused(Errno.EPERM, disabled))
                .contains("EPERM: forbidden by sysctl kernel.io_uring_disabled=" + value);
    }

    @Test
    void uring_refusedThoughEnabled_namesTheSandbox() throws IOException {
        Path enabled = Files.writeString(directory.resolve("io_uring_disabled"), "0\n");

        assertThat(refused(Errno.EPERM, enabled)).contains("EPERM: probably", "seccomp profile");
    }

    @ParameterizedTest
    @CsvSource({
        Errno.ENOSYS + ", ENOSYS: the kernel is older than 5.1",
        Errno.ENOMEM + ", ulimit -l",
        Errno.EMFILE + ", ulimit -n",
        Errno.EINVAL + ", EINVAL",
        "199,              errno 199"
    })
    void uring_refused_tellsCauseAndRemedy(int errno, String expected) {
        assertThat(refused(errno, directory.resolve("absent"))).contains(expected);
    }

    private static String refused(int errno, Path disabled) {
        var scripted = new ScriptedKernel(Map.of("setup", -errno));
        Finding finding =
                UringCheck.run(
                        scripted.kernel(),
                        scripted.uring(),
                        disabled,
                        () -> Finding.works("a loop must not be tried"));
        assertThat(finding.works()).isFalse();
        assertThat(scripted.calls).containsExactly("setup");
        return finding.detail();
    }

    /// Of this process, such as `anon_inode:[eventpoll]`; files and sockets are the JVM's own
    /// affair.
    private static long descriptors(String kind) throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(fd -> target(fd).contains(kind)).count();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException e) {
            return ""; // The one that listed the directory.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
