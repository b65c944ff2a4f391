package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// That `http/src/conformance/run` has a verdict for everything it was asked for, also when nothing works. What the
/// suites find is for whoever runs them.
final class ConformanceRunTest {
    private static final Path ROOT = Path.of(System.getProperty("gyre.root"));

    /// Looks like the project, so that results of the project's own are left alone.
    @TempDir private Path project;

    private record Verdict(int status, List<String> lines) {}

    private Verdict run(String... suites) throws IOException, InterruptedException {
        for (String name : List.of("http/src/conformance/run", "build/jdk", "pom.xml")) {
            Files.createDirectories(project.resolve(name).getParent());
            Files.copy(ROOT.resolve(name), project.resolve(name), COPY_ATTRIBUTES);
        }
        List<String> command = new ArrayList<>();
        command.add(project.resolve("http/src/conformance/run").toString());
        command.addAll(List.of(suites));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("GYRE", "/bin/false");
        builder.environment().put("GYRE_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().keySet().removeIf(name -> name.startsWith("H1SPEC_"));
        Process process = builder.start();
        List<String> lines = process.inputReader().lines().toList();
        return new Verdict(process.waitFor(), lines);
    }

    @Test
    void run_gyreThatDoesNotStart_failsTheSuitesThatNeedItAndSaysWhy() throws Exception {
        Verdict verdict = run("h1", "h1spec");

        assertThat(verdict.status()).isEqualTo(1);
        int list = verdict.lines().lastIndexOf("") + 1;
        assertThat(verdict.lines().subList(list, verdict.lines().size()))
                .as("the list of verdicts, at the end of %s", verdict.lines())
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("FAILED   h1: gyre does not start: "),
                        second ->
                                assertThat(second)
                                        .startsWith("skipped  h1spec: not in a registry; set ")
                                        .contains("H1SPEC_DENO", "H1SPEC_PYTHON"));
    }

    @Test
    void run_suiteThatIsSkipped_isNoFailure() throws Exception {
        assertThat(run("h1spec").status()).isZero();
    }
}
