package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import picocli.CommandLine;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;

/// What `./gyre` does about the start-up caches, in a copy of the project that is built already.
///
/// All but one test give it a JDK that only notes how it was called: what counts is which JVMs
/// start.
final class StartUpCacheTest {
    private static final Path ROOT = Path.of(System.getProperty("gyre.root"));
    private static final String REBUILDING =
            "gyre: the jars or the JDK have changed: rebuilding the start-up cache";

    @TempDir private Path project;

    private Path library;
    private Path jdk;

    @BeforeEach
    void copyWhatTheLauncherReads() throws IOException {
        for (String name : List.of("gyre", "pom.xml", "build/jdk", "build/Modernize.java")) {
            Files.createDirectories(project.resolve(name).getParent());
            Files.copy(ROOT.resolve(name), project.resolve(name), COPY_ATTRIBUTES);
        }
        for (String module : List.of("core", "http", "cli")) {
            Files.createDirectories(project.resolve(module).resolve("src/main"));
            Files.createFile(project.resolve(module).resolve("pom.xml"));
        }
        library = Files.createDirectories(project.resolve("cli/target/app/lib"));
        Files.writeString(library.resolve("gyre.jar"), "a jar");
        jdk = Files.createDirectories(project.resolve("jdk"));
        Files.createDirectory(jdk.resolve("bin"));
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");
        script("javac", "");
        script(
                "java",
                """
                echo "$*" >>"${0%/*}/calls"
                for word in "$@"; do
                    case $word in
                        --dry-run) exit "$(cat "${0%/*}/dry-run" 2>/dev/null || echo 0)" ;;
                        -XX:AOTCacheOutput=*) [[ ! -e ${0%/*}/fails ]] && echo >"${word#*=}" ;;
                    esac
                done
                """);
        Files.createFile(project.resolve("cli/target/app/built")); // newer than its sources
    }

    private void script(String name, String body) throws IOException {
        Path file = Files.writeString(jdk.resolve("bin/" + name), "#!/usr/bin/env bash\n" + body);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    @Test
    void start_withCachesOfTheseJars_startsOneJvmWithACache() throws Exception {
        assertThat(gyre("--version")).containsExactly(REBUILDING);
        assertThat(callsWith("-XX:AOTCacheOutput=")).hasSize(2);
        forgetCalls();

        assertThat(gyre("--version")).isEmpty();

        assertThat(calls())
                .singleElement()
                .asString()
                .contains("-XX:AOTCache=")
                .endsWith("--version");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "serve"})
    void start_afterAJarWasReplaced_rebuildsTheCaches(String command) throws Exception {
        gyre("--version");
        Files.writeString(library.resolve("gyre.jar"), "another jar");
        forgetCalls();

        assertThat(gyre(command)).containsExactly(REBUILDING);

        assertThat(callsWith("-XX:AOTCacheOutput=")).hasSize(2);
        assertThat(calls().getLast()).contains("-XX:AOTCache=").endsWith(command);
    }

    @Test
    void start_afterAnUpdateOfTheJdk_rebuildsTheCaches() throws Exception {
        gyre("--version");
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.2\"\n");

        assertThat(gyre("--version")).containsExactly(REBUILDING);
    }

    @Test
    void start_whoseCachesCannotBeMade_triesOnlyOnce() throws Exception {
        Files.createFile(jdk.resolve("bin/fails"));

        assertThat(gyre("--version")).containsExactly(REBUILDING);
        assertThat(calls().getLast()).doesNotContain("-XX:AOTCache").endsWith("--version");

        assertThat(gyre("--version")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"echo", "proxy"})
    void start_ofACommandWithoutACache_makesNone(String command) throws Exception {
        assertThat(gyre(command)).isEmpty();

        assertThat(calls()).singleElement().asString().doesNotContain("AOT").endsWith(command);
    }

    @Test
    void doctor_whoseCachesTheJvmRefuses_isToldSo() throws Exception {
        gyre("--version");
        Files.writeString(jdk.resolve("bin/dry-run"), "1");

        gyre("doctor");

        assertThat(calls().getLast())
                .contains("-Dgyre.cache.commands=refused", "-Dgyre.cache.serve=refused");
    }

    @Test
    void doctor_withCachesOfOtherJars_rebuildsThemAndSaysTheyAreInUse() throws Exception {
        Files.delete(library.resolve("gyre.jar"));
        for (Class<?> type :
                List.of(
                        EventLoop.class,
                        HttpServer.class,
                        Main.class,
                        CommandLine.class,
                        Histogram.class)) {
            copyJarOf(type);
        }
        jdk = Path.of(System.getProperty("java.home"));
        String name = "start" + jdk.toString().replace('/', '-');
        Files.writeString(library.resolveSibling(name + ".aot"), "of other jars");
        Files.writeString(library.resolveSibling(name + ".made-of"), "other jars");

        assertThat(gyre("doctor"))
                .contains(REBUILDING)
                .contains("  Start-up cache    in use, also by gyre serve");
        assertThat(profilesIn(name + "-serve.aot")).as("profiles of the rehearsal").isEmpty();
    }

    /// Lists the methods and classes that a cache holds JIT compiler profiles of.
    private List<String> profilesIn(String cache) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                jdk.resolve("bin/java").toString(),
                                "-XX:AOTMode=on",
                                "-XX:AOTCache=" + library.resolveSibling(cache),
                                "-XX:+UnlockDiagnosticVMOptions",
                                "-XX:+AOTPrintTrainingInfo",
                                "-XX:+UseSerialGC",
                                "-XX:+UseCompactObjectHeaders",
                                "--enable-native-access=dev.gyre",
                                "--module-path",
                                library.toString(),
                                "--module",
                                "dev.gyre.cli/" + Main.class.getName(),
                                "--version")
                        .redirectErrorStream(true)
                        .start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).as("exit status; it says %s", lines).isZero();
        assertThat(lines).contains("Archived TrainingData Dictionary");
        return lines.stream().filter(line -> line.matches(" *([0-9]+: 0x|[CKM] ).*")).toList();
    }

    /// Copies the jar that a class is in, or makes one of a directory.
    private void copyJarOf(Class<?> type) throws IOException, URISyntaxException {
        Path from = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path jar = library.resolve(type.getSimpleName() + ".jar");
        if (Files.isRegularFile(from)) {
            // As it was called, for those that have their module's name from there.
            Files.copy(from, library.resolve(from.getFileName()));
        } else {
            int status =
                    ToolProvider.findFirst("jar")
                            .orElseThrow()
                            .run(
                                    System.out,
                                    System.err,
                                    "--create",
                                    "--file",
                                    jar.toString(),
                                    "-C",
                                    from.toString(),
                                    ".");
            assertThat(status).isZero();
        }
    }

    private List<String> callsWith(String text) throws IOException {
        return calls().stream().filter(call -> call.contains(text)).toList();
    }

    /// The arguments of each JVM that was started, in order.
    private List<String> calls() throws IOException {
        return Files.readAllLines(jdk.resolve("bin/calls"));
    }

    private void forgetCalls() throws IOException {
        Files.delete(jdk.resolve("bin/calls"));
    }

    /// Runs the launcher.
    ///
    /// @return what it and the program have said
    private List<String> gyre(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(project.resolve("gyre").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("GYRE_JAVA_HOME", jdk.toString());
        builder.environment().remove("JDK_JAVA_OPTIONS");
        Process process = builder.start();
        process.getOutputStream().close();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).as("exit status; it says %s", lines).isZero();
        return lines;
    }
}
