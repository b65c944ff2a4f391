package dev.gyre.cli;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.BsdKqueueCalls;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.Platform;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/// `gyre doctor`: checks the machine and tries the backends.
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        header = "Checks this machine, and which backends work on it.",
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        description = {
            "Changes nothing, and runs for less than a second. A backend works if a loop ran on it:"
                    + " it was opened, ran a task from another thread and a timer, and was shut"
                    + " down. Each failure is listed with the kernel's error and a remedy. Include"
                    + " this output in bug reports.",
            "",
            "Lines:",
            "",
            "  Operating system  name and kernel release; a loop needs Linux",
            "  Architecture      a loop needs x86-64 or aarch64",
            "  Cores             processors available to this process",
            "  Open files        soft limit (ulimit -n) and hard limit; each connection uses",
            "                    one descriptor, each loop two or three",
            "  Memory limit      limit of the control group, as for a container or service",
            "  Native access     whether Gyre may call the kernel without a JVM warning",
            "  Start-up cache    whether the JVM uses the class cache, which halves the",
            "                    start-up time; ./gyre rebuilds it when jars change",
            "  epoll             Linux's readiness interface, and how a loop waits: by",
            "                    epoll_pwait2, or on older kernels by a timerfd",
            "  io_uring          Linux's completion interface",
            "  kqueue            the interface of macOS and FreeBSD",
            "  simulated         a kernel in Java, for tests",
            "  Default backend   the backend of a loop that selects none, and the reason",
            "",
            "The last section shows the test coverage of Gyre's contract: per chapter, how many"
                    + " clauses have tests on each backend. kqueue and simulated run on kernels in"
                    + " memory. docs/MATRIX.md lists each clause.",
            ""
        },
        optionListHeading = "Options:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:at least one backend works",
            "1:no backend works; the last line, on standard error, says so",
            "2:invalid command line"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  gyre doctor",
            "  gyre doctor >/dev/null && echo a loop can run here",
            "  docker run --rm IMAGE gyre doctor      what a container restricts",
            ""
        })
final class Doctor implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Override
    public Integer call() {
        // Before the first native call, which would enable native access.
        String nativeAccess = nativeAccess(EventLoop.class.getModule());
        PrintWriter out = spec.commandLine().getOut();
        Report report = new Report(out);
        describeSystem(report);
        describeJava(report, nativeAccess);
        String working = tryBackends(report);
        report.line("Default backend", defaultBackend());
        describeTests(report, TestMatrix.packaged());
        out.println();
        out.flush();
        if (working.isEmpty()) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("No backend works on this machine: a loop cannot be opened.");
            err.flush();
            return 1;
        }
        out.println("A loop can run on this machine, on " + working + ".");
        out.flush();
        return 0;
    }

    private static void describeSystem(Report report) {
        report.section("System");
        report.line(
                "Operating system",
                system()
                        + " "
                        + System.getProperty("os.version", "")
                        + (isLinux()
                                ? ""
                                : ": "
                                        + Platform.caveat()
                                                .orElse("not supported, a loop needs Linux")));
        report.line("Architecture", architecture(System.getProperty("os.arch", "")));
        report.line("Cores", Runtime.getRuntime().availableProcessors() + " for this process");
        report.line("Open files", openFiles());
        report.line("Memory limit", memoryLimit(new CgroupMemory(Path.of("/")).limitBytes()));
    }

    private static void describeJava(Report report, String nativeAccess) {
        report.section("Java");
        report.line(
                "JDK", Runtime.version() + ", " + System.getProperty("java.vm.name", "unnamed VM"));
        report.line("Home", System.getProperty("java.home", "unknown"));
        report.line("Native access", nativeAccess);
        report.line(
                "Start-up cache",
                startUpCache(
                        System.getProperty("gyre.cache.commands"),
                        System.getProperty("gyre.cache.serve")));
    }

    /// @return the names of the working backends, for a sentence
    private static String tryBackends(Report report) {
        report.section("Backends");
        Map<String, Finding> findings = new LinkedHashMap<>();
        Finding elsewhere = Finding.fails("Linux only, not on this system");
        findings.put("epoll", isLinux() ? LoopCheck.run(BackendKind.EPOLL) : elsewhere);
        findings.put("io_uring", isLinux() ? tryUring() : elsewhere);
        findings.put("kqueue", tryKqueue());
        findings.put("simulated", Finding.fails("for tests only: part of the test kit"));
        findings.forEach((name, finding) -> report.line(name, finding.toString()));
        return findings.entrySet().stream()
                .filter(entry -> entry.getValue().works())
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(", "));
    }

    private static Finding tryUring() {
        try {
            return UringCheck.run(
                    new LinuxPollCalls(),
                    new LinuxUringCalls(),
                    UringCheck.DISABLED,
                    () -> LoopCheck.run(BackendKind.IO_URING));
        } catch (LinkageError e) {
            return Finding.fails("its native calls cannot be linked; see epoll");
        }
    }

    private static Finding tryKqueue() {
        return Platform.hasKqueue() || System.getProperty(BsdKqueueCalls.LIBRARY_PROPERTY) != null
                ? LoopCheck.run(BackendKind.KQUEUE)
                : Finding.fails("macOS and FreeBSD only, not on this system");
    }

    /// Returns the backend of a loop that selects none, and the reason.
    private static String defaultBackend() {
        String property = System.getProperty("gyre.backend");
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withName("doctor"))) {
            return loop.metrics().backend()
                    + ": "
                    + loop.metrics()
                            .backendFallback()
                            .orElse(
                                    property == null
                                            ? "the default on this machine; select another with"
                                                    + " LoopConfig.withBackend or"
                                                    + " -Dgyre.backend=NAME; gyre's servers prefer"
                                                    + " io_uring"
                                            : "selected by the system property gyre.backend");
        } catch (UnsupportedOperationException
                | IllegalArgumentException
                | SystemCallException
                | LinkageError e) {
            return "none: " + e.getMessage();
        }
    }

    private static void describeTests(Report report, TestMatrix matrix) {
        report.section("Clauses with tests");
        report.line("", columns(matrix.backends()));
        for (String chapter : matrix.chapters()) {
            report.line(
                    chapter,
                    columns(
                            matrix.backends().stream()
                                    .map(backend -> matrix.covered(chapter, backend))
                                    .toList()));
        }
    }

    private static String columns(List<String> texts) {
        return texts.stream()
                .map(text -> String.format(Locale.ROOT, "%-12s", text))
                .collect(Collectors.joining())
                .stripTrailing();
    }

    private static String system() {
        return System.getProperty("os.name", "unknown");
    }

    private static boolean isLinux() {
        return system().equals("Linux");
    }

    static String architecture(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64" -> "x86-64: supported";
            case "aarch64" -> "aarch64: supported";
            default -> name + ": not supported, a loop needs x86-64 or aarch64";
        };
    }

    private static String openFiles() {
        if (!isLinux()) {
            return "unknown: supported on Linux only";
        }
        try {
            DescriptorLimit.OpenFiles limit = DescriptorLimit.openFiles();
            return limit.current() < 0
                    ? "unknown: the kernel does not report it"
                    : limit.current() + ", hard limit " + limit.hard();
        } catch (LinkageError e) {
            return "unknown: native calls cannot be linked";
        }
    }

    static String memoryLimit(OptionalLong bytes) {
        return bytes.isEmpty()
                ? "none from a control group"
                : String.format(
                        Locale.ROOT,
                        "%.1f MiB from a control group",
                        bytes.getAsLong() / (1024.0 * 1024.0));
    }

    /// @param commands the state of the cache for short commands, as found by the launcher; `null`
    ///     if the launcher did not start this program
    /// @param serve the state of the cache for `gyre serve`
    static String startUpCache(@Nullable String commands, @Nullable String serve) {
        if (commands == null || serve == null) {
            return "none: ./gyre did not start this program";
        }
        return commands.equals("used") && serve.equals("used")
                ? "in use, also by gyre serve"
                : "for commands %s; for gyre serve %s"
                        .formatted(cacheState(commands), cacheState(serve));
    }

    private static String cacheState(String state) {
        return switch (state) {
            case "used" -> "in use";
            case "absent" -> "not built: see target/gyre-build.log";
            case "skipped" -> "not used while JDK_JAVA_OPTIONS is set";
            default -> "rejected by the JVM: delete cli/target/app and start ./gyre again";
        };
    }

    static String nativeAccess(Module module) {
        String name = module.isNamed() ? module.getName() : "ALL-UNNAMED";
        return module.isNativeAccessEnabled()
                ? "enabled for " + name
                : "not enabled: the JVM warns, and later versions will refuse; start it with"
                        + " --enable-native-access="
                        + name;
    }
}
