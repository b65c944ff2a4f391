package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// `./gyre java FILE`, in a copy of the project that has been built already: of jars that are there.
final class LauncherTest {
    @TempDir private Path project;

    private record Ended(int status, List<String> lines) {}

    @BeforeEach
    void copyWhatTheLauncherLooksAt() throws IOException {
        for (String name : List.of("gyre", "pom.xml", "build/jdk", "build/Modernize.java")) {
            Files.createDirectories(project.resolve(name).getParent());
            Files.copy(RunningExample.ROOT.resolve(name), project.resolve(name), COPY_ATTRIBUTES);
        }
        for (String module : List.of("core", "http", "cli")) {
            Files.createDirectories(project.resolve(module).resolve("src/main"));
            Files.createFile(project.resolve(module).resolve("pom.xml"));
        }
        Path library = Files.createDirectories(project.resolve("cli/target/app/lib"));
        for (String jar : List.of("gyre.core.jar", "gyre.http.jar")) {
            Files.copy(Path.of(System.getProperty(jar)), library.resolve(jar + ".jar"));
        }
        Files.createFile(library.resolveSibling("built")); // Last: it is newer than its sources.
    }

    private Ended gyre(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(project.resolve("gyre").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("GYRE_JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        List<String> lines = process.inputReader().lines().toList();
        return new Ended(process.waitFor(), lines);
    }

    @Test
    void java_ofAnExample_runsItWithoutAComplaint() throws Exception {
        Path time = RunningExample.EXAMPLES.resolve("Time.java");

        Ended ended = gyre("java", time.toString());

        assertThat(ended.status()).isZero();
        assertThat(ended.lines()).isNotEmpty().containsOnly("tick");
    }

    @Test
    void java_programOfOnesOwn_hasItsArgumentsTheModulesAndItsStatus() throws Exception {
        Path own = project.resolve("Own.java");
        Files.writeString(
                own,
                """
                import module dev.gyre.http;

                void main(String[] arguments) {
                    IO.println(HttpConfig.DEFAULT.maxBody() + " " + String.join("|", arguments));
                    System.exit(7);
                }
                """);

        assertThat(gyre("java", own.toString(), "a b", "--help"))
                .isEqualTo(new Ended(7, List.of("1048576 a b|--help")));
    }

    @Test
    void java_withoutAFile_isAMistake() throws Exception {
        assertThat(gyre("java"))
                .isEqualTo(
                        new Ended(
                                2,
                                List.of(
                                        "Missing required parameter: FILE",
                                        "Run gyre help java for its options.")));
    }

    @Test
    void java_helpOfIt_isHadInEitherWay() throws Exception {
        Ended help = gyre("java", "--help");

        assertThat(help.status()).isZero();
        assertThat(help.lines()).contains("Usage: gyre java [OPTION...] FILE [ARGUMENT...]");
        assertThat(gyre("help", "java")).isEqualTo(help);
    }
}
