package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

/// The line-length check of `build/Format.java`, which the build runs before it compiles.
final class FormatTest {
    private static final Path ROOT = Path.of(System.getProperty("gyre.root"));
    private static final String FITS = "word ".repeat(19) + "word.";
    private static final String TOO_LONG = FITS + "x";

    @TempDir private Path root;

    @Test
    void check_ofMarkdownLinesThatFitOrCannotBeBroken_passes() throws Exception {
        String unbreakable = "x".repeat(101);
        write(
                "README.md",
                FITS,
                "é".repeat(3) + FITS.substring(3), // columns, not bytes
                "| " + TOO_LONG + " |",
                "```",
                TOO_LONG,
                "```",
                "[link](https://example.com/" + unbreakable + ")",
                "- `" + unbreakable + "`",
                "  1. " + unbreakable);

        assertThat(complaint()).isEmpty();
    }

    @Test
    void check_ofLinesThatAreTooLong_namesFileLineAndRemedy() throws Exception {
        write("README.md", FITS, TOO_LONG);
        write("docs/guide/a.md", "```", TOO_LONG, "```", "- " + FITS);
        write("core/src/conformance/README.md", "see [link](" + "x".repeat(101) + ")");
        write("core/target/ignored.md", TOO_LONG);

        assertThat(complaint())
                .isEqualTo(
                        """
                        Lines with more than 100 columns:
                          README.md:2: 101 columns
                          core/src/conformance/README.md:1: 113 columns
                          docs/guide/a.md:4: 102 columns
                        Break each of them at a space.
                        To build without this check, add -Dgyre.format.skip.
                        """);
    }

    @Test
    void check_ofJavaLinesThatAreTooLong_namesThoseOfTheMeasuredRoots() throws Exception {
        write("core/src/main/A.java", "import a." + "b".repeat(101) + ";", "/// " + TOO_LONG);
        write("core/src/test/ATest.java", "/// " + TOO_LONG);

        // The formatter is absent and fails too, which is not the subject here.
        assertThat(complaint())
                .contains("  core/src/main/A.java:2: 105 columns\n")
                .doesNotContain("A.java:1:", "ATest");
    }

    @Test
    void check_afterItPassed_skipsFilesThatDidNotChange() throws Exception {
        write("README.md", FITS);
        assertThat(complaint()).isEmpty();

        write("docs/a.md", TOO_LONG);
        assertThat(complaint()).contains("  docs/a.md:1: 101 columns\n");
        Files.setLastModifiedTime(root.resolve("docs/a.md"), FileTime.fromMillis(1));
        assertThat(complaint()).isEmpty();
    }

    private void write(String name, String... lines) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, String.join("\n", lines) + "\n");
    }

    private String complaint() throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                ROOT.resolve("build/Format.java").toString(),
                                "check",
                                root.toString(),
                                root.resolve("formatter.jar").toString())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isEqualTo(said.isEmpty() ? 0 : 1);
        return said;
    }
}
