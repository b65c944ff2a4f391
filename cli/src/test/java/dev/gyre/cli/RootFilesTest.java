package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// `build/root-files`, which the build runs before all else.
final class RootFilesTest {
    private static final Path ROOT = Path.of(System.getProperty("gyre.root"));

    @TempDir private Path root;

    @Test
    void rootFiles_ofThisRepository_areAllKnown() throws Exception {
        assertThat(complaint(ROOT)).isEmpty();
    }

    @Test
    void rootFiles_ofASourceArchive_mayBeIgnoredOnes() throws Exception {
        make(
                ".gitignore",
                ".ci",
                "README.md",
                "core",
                "target",
                ".idea",
                "x.iml",
                "hs_err_pid1.log");

        assertThat(complaint(root)).isEmpty();
    }

    @Test
    void rootFiles_unknownInASourceArchive_areNamed() throws Exception {
        make(".gitignore", "pom.xml", "none", ".secret");

        assertThat(complaint(root))
                .startsWith("Unknown files at the root of the repository: .secret none\n");
    }

    @Test
    void rootFiles_trackedByGitOrNot_areNamedIfUnknown() throws Exception {
        make(".gitignore", "tracked", "untracked", "target");
        git("init", "-q");
        git("add", "tracked");

        assertThat(complaint(root)).contains(": tracked untracked\n");
    }

    @Test
    void rootFiles_excludedInOneWorkTreeOnly_areNotNamed() throws Exception {
        make(".gitignore", "scratch");
        git("init", "-q");
        Files.writeString(root.resolve(".git/info/exclude"), "scratch\n");

        assertThat(complaint(root)).isEmpty();
    }

    /// Makes files, the ignored ones as this repository has them.
    private void make(String... names) throws IOException {
        for (String name : names) {
            Path file = root.resolve(name);
            if (name.equals(".gitignore")) {
                Files.copy(ROOT.resolve(name), file);
            } else {
                Files.createFile(file);
            }
        }
    }

    private void git(String... arguments) throws Exception {
        Tool.require("git");
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        Process git = new ProcessBuilder(command).directory(root.toFile()).inheritIO().start();
        assertThat(git.waitFor()).as("exit status of %s", command).isZero();
    }

    private static String complaint(Path root) throws Exception {
        Process process =
                new ProcessBuilder(
                                List.of(
                                        "bash",
                                        ROOT.resolve("build/root-files").toString(),
                                        root.toString()))
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isEqualTo(said.isEmpty() ? 0 : 1);
        return said;
    }
}
