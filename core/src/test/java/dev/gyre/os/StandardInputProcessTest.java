package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.sys.PseudoTerminal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Descriptor 0 itself, in separate processes.
class StandardInputProcessTest {
    /// A process that runs the program.
    ///
    /// @param redirection the shell's redirection of standard input, such as `<&-`
    private static ProcessBuilder program(String redirection, String... arguments)
            throws URISyntaxException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" " + redirection));
        command.addAll(
                List.of(
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        placeOf(StandardInput.class)
                                + File.pathSeparator
                                + placeOf(StandardInputProgram.class),
                        StandardInputProgram.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    private static Path placeOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static String output(Process process) throws IOException, InterruptedException {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    @Test
    @Clause("Y-1")
    void lines_ofAPipe_areHandedOver() throws Exception {
        Process process = program("").start();
        try (var writer = process.outputWriter(StandardCharsets.UTF_8)) {
            writer.write("grüße\nzwei");
        }
        assertThat(output(process)).isEqualTo("grüße\nzwei\nEND\n");
    }

    @Test
    @Clause("Y-1")
    void lines_ofAFile_areHandedOver(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "one\r\ntwo\r\n");
        Process process = program("").redirectInput(file.toFile()).start();
        assertThat(output(process)).isEqualTo("one\ntwo\nEND\n");
    }

    @Test
    @Clause("Y-1")
    void standardInput_thatIsClosed_isAtItsEnd_thoughTheJvmHasUsedItsNumber() throws Exception {
        assertThat(output(program("<&-").start())).isEqualTo("END\n");
    }

    @Test
    @Clause("Y-1")
    void raw_leftOpen_isRestoredWhenTheJvmExits() throws Exception {
        try (var terminal = new PseudoTerminal()) {
            String before = terminal.settings();
            Process process = program("", "raw").redirectInput(new File(terminal.name())).start();
            assertThat(output(process)).isEmpty();
            assertThat(terminal.settings()).isEqualTo(before);
        }
    }
}
