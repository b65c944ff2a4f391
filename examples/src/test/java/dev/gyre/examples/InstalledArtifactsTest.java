package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Builds and runs users' projects, a module and one on the class path, from the artefacts that
/// `mvn install` installs.
///
/// `mvn verify` copies the artefacts to `target/repository`. The plugins come from the local
/// repository of this build, so the test downloads nothing and installs nothing there.
@Timeout(300)
final class InstalledArtifactsTest {
    private static final Path PUBLISHED = RunningExample.ROOT.resolve("target/repository");
    private static final Path GYRE = PUBLISHED.resolve("dev/gyre");
    private static final Path PROJECTS = RunningExample.EXAMPLES.resolve("src/test/projects");
    private static final Path REPOSITORY =
            Path.of("target", "consumer-repository").toAbsolutePath();
    private static final Path JDK = Path.of(System.getProperty("java.home"));

    @TempDir private static Path directory;

    @BeforeAll
    static void buildProjects() throws IOException, InterruptedException {
        boolean published = Files.isDirectory(GYRE.resolve("gyre-http"));
        String message = "no artefacts in " + PUBLISHED + ": run `mvn verify`, not `mvn test`";
        assertThat(published || System.getenv("CI") == null).as(message).isTrue();
        assumeTrue(published, message);
        copy(PROJECTS, directory);
        delete(REPOSITORY.resolve("dev/gyre")); // Only plugins and libraries are kept.
        Files.writeString(directory.resolve("settings.xml"), settings());
        List<String> command = maven();
        for (String plugin : List.of("resources", "compiler", "dependency")) {
            String name = "maven-" + plugin + "-plugin";
            command.add("-D" + name + ".version=" + versionOf(name));
        }
        command.add("test-compile");
        run(directory, command);
    }

    @Test
    void install_ofThisProject_bringsWhatUsersNeedWithSources() throws IOException {
        assertThat(names(GYRE))
                .containsExactly(
                        "gyre-core",
                        "gyre-http",
                        "gyre-http-testkit",
                        "gyre-jackson",
                        "gyre-micrometer",
                        "gyre-parent",
                        "gyre-testkit");
        String version = versionOf("gyre-parent");
        for (String name :
                List.of(
                        "gyre-core",
                        "gyre-http",
                        "gyre-http-testkit",
                        "gyre-jackson",
                        "gyre-micrometer",
                        "gyre-testkit")) {
            String file = name + "-" + version;
            assertThat(names(GYRE.resolve(name).resolve(version)))
                    .contains(file + ".jar", file + "-sources.jar", file + ".pom");
        }
    }

    @Test
    void modularProject_ofInstalledArtefacts_compilesAndRuns() throws Exception {
        Path target = directory.resolve("modular/target");

        assertThat(names(target.resolve("lib"))).allMatch(name -> name.startsWith("gyre-"));
        assertThat(
                        run(
                                directory,
                                java(
                                        "--enable-native-access=dev.gyre",
                                        "--module-path",
                                        target.resolve("classes")
                                                + File.pathSeparator
                                                + target.resolve("lib"),
                                        "--module",
                                        "consumer/consumer.Main")))
                .isEqualTo("served and fetched\n");
    }

    @Test
    void classPathProject_ofInstalledArtefacts_compilesAndRuns() throws Exception {
        Path target = directory.resolve("classpath/target");

        assertThat(names(target.resolve("lib"))).allMatch(name -> name.startsWith("gyre-"));
        assertThat(
                        run(
                                directory,
                                onClassPath(
                                        "consumer.Main",
                                        target.resolve("classes"),
                                        target.resolve("lib/*"))))
                .isEqualTo("served and fetched\n");
    }

    @Test
    void classPathProject_withTheTestKit_runsInASimulatedWorld() throws Exception {
        Path target = directory.resolve("classpath/target");

        assertThat(
                        run(
                                directory,
                                onClassPath(
                                        "consumer.SimulatedCheck",
                                        target.resolve("test-classes"),
                                        target.resolve("test-lib/*"))))
                .isEqualTo("true\n");
    }

    /// The default versions of plugins depend on Maven, so the goals are called one by one.
    @Test
    void firstService_ofTheGuide_compilesAndPassesItsTest() throws Exception {
        Path guide = RunningExample.ROOT.resolve("docs/guide/first-service.md");
        Path project = directory.resolve("todo");
        assertThat(Files.readString(guide))
                .contains("```xml\n" + Files.readString(project.resolve("pom.xml")) + "```\n");
        Path sources = Files.createDirectories(project.resolve("src/main/java"));
        Files.copy(
                RunningExample.EXAMPLES.resolve("TodoService.java"),
                sources.resolve("TodoService.java"));
        List<String> command = maven();
        String plugin = "org.apache.maven.plugins:maven-%s-plugin:";
        command.add(plugin.formatted("compiler") + "compile");
        command.add(plugin.formatted("compiler") + "testCompile");
        command.add(plugin.formatted("surefire") + "test");

        run(project, command);

        assertThat(names(project.resolve("target/surefire-reports")))
                .contains("TEST-TodoServiceTest.xml");
    }

    @Test
    void guide_forProjectsOfUsers_saysWhatIsTestedHere() throws IOException {
        String guide = Files.readString(RunningExample.ROOT.resolve("docs/guide/http.md"));
        Matcher block =
                Pattern.compile("^```xml\\R(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
                        .matcher(guide);

        assertThat(block.find()).as("docs/guide/http.md has a block of XML").isTrue();
        for (String project : List.of("modular", "classpath")) {
            assertThat(Files.readString(PROJECTS.resolve(project).resolve("pom.xml")))
                    .contains(block.group(1).indent(4));
        }
        assertThat(Files.readString(PROJECTS.resolve("modular/src/main/java/module-info.java")))
                .contains("requires dev.gyre.http;");
        assertThat(guide)
                .contains("`mvn install -Dquick`", "`requires dev.gyre.http;`")
                .contains("<version>" + versionOf("gyre-parent") + "</version>");
    }

    // ------------------------------------------------------------------ Maven and Java

    /// Returns the command of Maven without goals.
    private static List<String> maven() {
        String settings = directory.resolve("settings.xml").toString();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("gyre.maven.home"), "bin", "mvn").toString());
        command.addAll(List.of("-B", "-q", "-ntp", "-Dmaven.repo.local=" + REPOSITORY));
        command.addAll(List.of("-s", settings, "-gs", settings));
        return command;
    }

    /// Two repositories of files: the artefacts come from `build`, all else from the local repository.
    private static String settings() {
        return """
        <settings>
          <mirrors>
            <mirror>
              <id>local</id><mirrorOf>*,!build</mirrorOf><url>%s</url>
            </mirror>
          </mirrors>
          <profiles>
            <profile>
              <id>build</id>
              <repositories>
                <repository><id>build</id><url>%s</url></repository>
              </repositories>
            </profile>
          </profiles>
          <activeProfiles><activeProfile>build</activeProfile></activeProfiles>
        </settings>
        """
                .formatted(
                        Path.of(System.getProperty("gyre.maven.repository")).toUri(),
                        PUBLISHED.toUri());
    }

    /// The version that the parent POM names for an artefact.
    private static String versionOf(String artifact) throws IOException {
        Matcher matcher =
                Pattern.compile(
                                "<artifactId>"
                                        + artifact
                                        + "</artifactId>\\s*<version>(.*?)</version>")
                        .matcher(Files.readString(RunningExample.ROOT.resolve("pom.xml")));
        assertThat(matcher.find()).as("the version of %s in pom.xml", artifact).isTrue();
        return matcher.group(1);
    }

    private static List<String> onClassPath(String main, Path... entries) {
        String path =
                String.join(File.pathSeparator, Stream.of(entries).map(Path::toString).toList());
        return java("--enable-native-access=ALL-UNNAMED", "--class-path", path, main);
    }

    private static List<String> java(String... arguments) {
        List<String> command = new ArrayList<>(List.of(JDK.resolve("bin/java").toString()));
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(arguments));
        return command;
    }

    /// Runs a command to its end.
    ///
    /// @return its standard output
    private static String run(Path directory, List<String> command)
            throws IOException, InterruptedException {
        Path errors = Files.createTempFile(directory, "errors", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectError(errors.toFile());
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(name -> name.startsWith("MAVEN_"));
        environment.put("JAVA_HOME", JDK.toString());
        environment.put("MAVEN_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1");
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor())
                .as("exit status of %s\n%s%s", command, output, Files.readString(errors))
                .isZero();
        return output;
    }

    // ------------------------------------------------------------------ files

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
