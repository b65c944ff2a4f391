package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// That a server's start does not grow fat again. Time cannot be counted on, classes can: these are
/// what a start was once found to wait for, and docs/adr/0022 has what each of them costs.
final class StartTest {
    @TempDir private Path directory;

    @Test
    void serve_untilItsFirstAnswer_linksNativeCallsOfOneShape() throws Exception {
        assertThat(classesUntilTheFirstAnswer("/plaintext"))
                .filteredOn(name -> name.startsWith("jdk.internal.foreign.abi.DowncallStub"))
                .as(
                        "stubs for native calls, one for each shape: link what is new by"
                                + " internal.sys.Linkage, which has one shape for all")
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/plaintext", "/page.txt"})
    void serve_untilItsFirstAnswer_doesWithoutWhatTakesLong(String path) throws Exception {
        List<String> classes = classesUntilTheFirstAnswer(path);
        assertThat(classes).as("is the log that of a server?").contains("dev.gyre.cli.Serve");
        assertAbsent(classes, "dev.gyre.cli.Run$", "picocli reads a command that was not named");
        assertAbsent(classes, "java.math.MathContext", "a BigDecimal: use whole numbers");
        assertAbsent(classes, "java.util.logging.", "a logger is made: use internal.base.Log");
        assertAbsent(classes, "sun.util.cldr.", "a locale's names are looked up: write them out");
        assertThat(classes)
                .filteredOn(name -> name.startsWith("dev.gyre.") && name.contains("$$TypeSwitch"))
                .as("switches over types, before the first answer: use instanceof, or overload")
                .isEmpty();
    }

    private static void assertAbsent(List<String> classes, String prefix, String why) {
        assertThat(classes)
                .filteredOn(name -> name.startsWith(prefix))
                .as("%s, before the first answer; -Xlog:class+load+cause tells where", why)
                .isEmpty();
    }

    /// @param path of the demonstration, or `/page.txt` of a directory
    private List<String> classesUntilTheFirstAnswer(String path)
            throws IOException, InterruptedException {
        Path log = directory.resolve("classes.log");
        String option = "-Xlog:class+load:file=" + log + ":none";
        List<String> command = new ArrayList<>(List.of("serve", "--port", "0"));
        if (path.equals("/page.txt")) {
            Path site = Files.createDirectory(directory.resolve("site"));
            Files.writeString(site.resolve("page.txt"), "a page");
            command.add(site.toString());
        }
        try (Program server = Program.startWith(option, command.toArray(String[]::new));
                Socket client =
                        new Socket(InetAddress.getLoopbackAddress(), ServeTest.port(server))) {
            client.setSoTimeout(60_000);
            client.getOutputStream()
                    .write(
                            ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                                    .getBytes(StandardCharsets.US_ASCII));
            assertThat(client.getInputStream().readNBytes(12)).asString().isEqualTo("HTTP/1.1 200");
        }
        return Files.readAllLines(log).stream().map(line -> line.split(" ", 2)[0]).toList();
    }
}
