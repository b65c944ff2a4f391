package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.OptionalLong;

final class DoctorTest {
    @Test
    void doctor_onLinux_reportsEveryLineAndFindsEpollWorking() {
        Execution execution = Execution.of("doctor");

        assertThat(execution.err()).isEmpty();
        assertThat(execution.status()).isZero();
        assertThat(execution.lines())
                .contains("System", "Java", "Backends")
                .anyMatch(
                        line ->
                                line.matches(
                                        "  Operating system  Linux "
                                                + System.getProperty("os.version")))
                .anyMatch(line -> line.matches("  Architecture      (x86-64|aarch64): supported"))
                .anyMatch(line -> line.matches("  Cores             [1-9]\\d* for this process"))
                .anyMatch(line -> line.matches("  Open files        \\d+, hard limit \\d+"))
                .anyMatch(line -> line.matches("  Memory limit      .+ a control group"))
                .anyMatch(line -> line.startsWith("  JDK               " + Runtime.version()))
                .contains("  Home              " + System.getProperty("java.home"))
                .contains("  Native access     enabled for ALL-UNNAMED")
                .contains("  Start-up cache    none: ./gyre did not start this program")
                .anyMatch(line -> line.startsWith("  epoll             works: "))
                .anyMatch(line -> line.matches("  io_uring {10}(works: a task|no: the kernel).*"))
                .contains("  kqueue            no: macOS and FreeBSD only, not on this system")
                .anyMatch(line -> line.startsWith("  simulated         no: "))
                .anyMatch(line -> line.startsWith("A loop can run on this machine, on epoll"));
        assertThat(execution.out().replaceAll("\\s+", " ")).contains("waits use ");
    }

    @Test
    void doctor_anywhere_keepsToItsWidth() {
        assertThat(Execution.of("doctor").lines())
                .allMatch(line -> line.length() <= Report.WIDTH)
                .noneMatch(line -> line.endsWith(" "));
    }

    @Test
    void doctor_onAnotherSystem_saysThatNoBackendWorks() {
        Execution execution = Execution.on("Plan 9", "doctor");

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("No backend works on this machine");
        assertThat(execution.out())
                .contains("Plan 9")
                .contains("not supported, a loop needs Linux")
                .contains("epoll             no: Linux only")
                .contains("io_uring          no: Linux only")
                .contains("kqueue            no: macOS and FreeBSD only")
                .doesNotContain("works: ", "A loop can run on this machine");
    }

    @Test
    void doctor_onMacOs_triesKqueueAndSaysWhatWasNeverTested() {
        Execution execution =
                Execution.on("Mac OS X", "doctor"); // Linux all the same: it has none.

        assertThat(execution.out().replaceAll("\\s+", " "))
                .contains("timers, tasks and promises only")
                .contains("never on Mac OS X itself")
                .contains("kqueue no: ")
                .contains("Default backend none: ");
    }

    @Test
    void doctor_here_tellsTheDefaultBackendAndWhy() {
        assertThat(Execution.of("doctor").lines())
                .anyMatch(line -> line.startsWith("  Default backend   epoll: the default on"));
    }

    @Test
    void doctor_anywhere_tellsHowManyClausesOfEachChapterAreTestedWhere() {
        assertThat(Execution.of("doctor").lines())
                .contains("Clauses with tests")
                .anyMatch(line -> line.matches(" {20}epoll +io_uring +kqueue +simulated"))
                .anyMatch(line -> line.matches("  W {17}9/9 +9/9 +[1-9]/9 +.*"))
                .anyMatch(line -> line.matches("  L {17}10/10 +10/10 .*"));
    }

    @Test
    void doctor_unknownOption_isNamed() {
        Execution execution = Execution.of("doctor", "--json");

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains("--json");
    }

    @Test
    void help_ofDoctor_explainsEveryLineOfTheReport() {
        Execution execution = Execution.of("doctor", "--help");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("Operating system", "Architecture", "Cores", "Open files")
                .contains(
                        "Memory limit",
                        "Native access",
                        "Start-up cache",
                        "epoll",
                        "io_uring",
                        "kqueue")
                .contains("simulated", "Default backend", "docs/MATRIX.md")
                .contains("Exit status:", "Examples:");
    }

    @Test
    void architecture_unknown_isNotSupported() {
        assertThat(Doctor.architecture("riscv64"))
                .isEqualTo("riscv64: not supported, a loop needs x86-64 or aarch64");
        assertThat(Doctor.architecture("aarch64")).isEqualTo("aarch64: supported");
    }

    @Test
    void startUpCache_inEachState_saysWhetherItIsUsedAndTheRemedy() {
        assertThat(Doctor.startUpCache("used", "used")).isEqualTo("in use, also by gyre serve");
        assertThat(Doctor.startUpCache("used", "skipped"))
                .isEqualTo(
                        "for commands in use; for gyre serve not used while JDK_JAVA_OPTIONS is"
                                + " set");
        assertThat(Doctor.startUpCache("absent", "refused"))
                .contains("not built: see target/gyre-build.log", "rejected by the JVM: delete");
    }

    @Test
    void memoryLimit_set_isInMebibytes() {
        assertThat(Doctor.memoryLimit(OptionalLong.of(512L << 20)))
                .isEqualTo("512.0 MiB from a control group");
    }
}
