package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.os.FileWatch;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

final class WatchTest {
    private static final String TIME = "\\d\\d:\\d\\d:\\d\\d\\.\\d{3}";

    @TempDir Path root;
    private Path directory;
    private Path below;

    @BeforeEach
    void makeDirectories() throws IOException {
        directory = Files.createDirectory(root.resolve("watched"));
        below = Files.createDirectory(directory.resolve("below"));
    }

    private static void isLine(String line, String kind, Object what) {
        assertThat(line).matches(TIME + "  .*").endsWith("  %-8s  %s".formatted(kind, what));
    }

    @Test
    void watch_ofATree_printsEachChangeAtOnceUntilInterrupted() throws Exception {
        Path file = below.resolve("file");
        Path moved = directory.resolve("moved");
        try (Program program = Program.start("watch", directory.toString())) {
            assertThat(program.err())
                    .isEqualTo(
                            "Watching "
                                    + directory
                                    + " and everything below. Press Ctrl-C to stop.");
            Files.writeString(file, "text");
            isLine(program.out(), "CREATED", file);
            isLine(program.out(), "MODIFIED", file);
            isLine(program.out(), "WRITTEN", file);
            Files.move(file, moved);
            isLine(program.out(), "MOVED", file + " -> " + moved);
            Files.delete(moved);
            isLine(program.out(), "DELETED", moved);

            program.send(Signal.SIGINT);
            assertThat(program.status()).isEqualTo(130);
            assertThat(program.restOfErr()).containsExactly("Stopped by SIGINT: 5 changes.");
            assertThat(program.restOfOut()).isEmpty();
        }
    }

    @Test
    void watch_flatAndOfAFile_leavesOutWhatIsBelowAndBeside() throws Exception {
        Path file = Files.createFile(root.resolve("file"));
        try (Program program =
                Program.start(
                        "watch",
                        "--flat",
                        "--seconds=3600",
                        directory.toString(),
                        file.toString())) {
            assertThat(program.err()).startsWith("Watching " + directory + ", " + file + ".");
            Files.createFile(below.resolve("unseen"));
            Files.createFile(root.resolve("unseen"));
            Files.delete(file);
            isLine(program.out(), "DELETED", file);
            Files.createDirectory(directory.resolve("seen"));
            isLine(program.out(), "CREATED", directory.resolve("seen"));

            program.send(Signal.SIGTERM);
            assertThat(program.status()).isEqualTo(143);
            assertThat(program.restOfErr()).containsExactly("Stopped by SIGTERM: 2 changes.");
        }
    }

    @Test
    void watch_json_isAnObjectALine() throws Exception {
        try (Program program = Program.start("watch", "--json", directory.toString())) {
            assertThat(program.err()).startsWith("Watching ");
            Files.createDirectory(directory.resolve("say \"hi\""));
            assertThat(program.out())
                    .matches(
                            "\\{\"time\":\"\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z\",\"kind\":\"CREATED\",.*")
                    .endsWith(",\"path\":\"" + directory + "/say \\\"hi\\\"\"}");
        }
    }

    @Test
    void watch_readerGone_endsWithoutAWordAndWithoutAnotherChange() throws Exception {
        try (Program program =
                Program.inShell(
                        "{ \"$@\"; echo status $? >&2; } | head -1",
                        "watch",
                        directory.toString())) {
            assertThat(program.err()).startsWith("Watching ");
            Files.createDirectory(directory.resolve("new"));
            isLine(program.out(), "CREATED", directory.resolve("new"));
            assertThat(program.restOfErr()).containsExactly("status 141");
        }
    }

    @Test
    void watch_outputIntoWhatIsWatched_doesNotFeedItself() throws Exception {
        Path log = directory.resolve("log");
        try (Program program =
                Program.inShell("exec \"$@\" >" + log, "watch", directory.toString())) {
            assertThat(program.err()).startsWith("Watching ");
            // Each waits for its line, so the second one comes behind the change that the first
            // made.
            for (String name : new String[] {"one", "two"}) {
                Files.createDirectory(directory.resolve(name));
                awaitText(log, name);
            }
            program.send(Signal.SIGTERM);
            assertThat(program.restOfErr()).containsExactly("Stopped by SIGTERM: 2 changes.");
        }
    }

    private static void awaitText(Path file, String text) throws IOException {
        LoopConfig config = LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE);
        try (EventLoop loop = EventLoop.open(config)) {
            FileWatch _ =
                    FileWatch.on(
                            loop,
                            file,
                            change -> {
                                if (contentOf(file).contains(text)) {
                                    loop.stop();
                                }
                            });
            loop.after(
                    Duration.ofMinutes(1),
                    timer -> {
                        throw new AssertionError(
                                "'%s' did not come into %s: %s"
                                        .formatted(text, file, contentOf(file)));
                    });
            if (!contentOf(file).contains(text)) {
                loop.run();
            }
        }
    }

    private static String contentOf(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void ownOutput_ofAFile_isThatFileUnderAnyName() throws IOException {
        Path file = Files.createFile(root.resolve("file"));
        Path other = Files.createLink(root.resolve("other"), file);
        Path stream = Files.createSymbolicLink(root.resolve("1"), file);

        RedirectedOutput own = RedirectedOutput.of(stream, root.resolve("closed"));

        assertThat(own.includes(file)).isTrue();
        assertThat(own.includes(other)).isTrue();
        assertThat(own.includes(directory)).isFalse();
        assertThat(own.includes(root.resolve("gone"))).isFalse();
        assertThat(RedirectedOutput.of(Path.of("/dev/null")).includes(Path.of("/dev/null")))
                .isFalse();
    }

    @Test
    void watch_allOfItDeleted_saysThatNothingIsLeft() throws Exception {
        try (Program program = Program.start("watch", "--flat", below.toString())) {
            assertThat(program.err()).startsWith("Watching ");
            Files.delete(below);
            isLine(program.out(), "DELETED", below);
            assertThat(program.status()).isEqualTo(1);
            assertThat(program.restOfErr()).containsExactly("No watched path is left: 1 change.");
        }
    }

    @Test
    void watch_forASecond_endsByItselfAndLeavesNoDescriptor() throws IOException {
        assertThat(Execution.of("watch", "-s", "1", directory.toString()).status()).isZero();
        long before = descriptors();

        Execution execution = Execution.of("watch", "-s", "1", directory.toString());

        assertThat(execution.status()).isZero();
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err()).endsWith("Time limit reached: 0 changes.\n");
        assertThat(descriptors()).isEqualTo(before);
    }

    /// Those that a loop and file watching take.
    private static long descriptors() throws IOException {
        try (var links = Files.list(Path.of("/proc/self/fd"))) {
            return links.filter(WatchTest::isOfALoop).count();
        }
    }

    private static boolean isOfALoop(Path link) {
        try {
            return Files.readSymbolicLink(link).toString().startsWith("anon_inode");
        } catch (IOException e) {
            return false; // The one that listed the directory.
        }
    }

    @Test
    void watch_ofSomethingMissing_namesItAndTheRemedy() {
        Path missing = directory.resolve("missing");

        Execution execution = Execution.of("watch", directory.toString(), missing.toString());

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err())
                .startsWith("Cannot watch " + missing + ": no such file or directory")
                .contains("watch its directory");
    }

    @Test
    void watch_ofWhatMayNotBeRead_namesItAndTheCause() throws IOException {
        Files.setPosixFilePermissions(below, PosixFilePermissions.fromString("---------"));
        assumeFalse(Files.isReadable(below), "this user may read everything");

        Execution execution = Execution.of("watch", below.toString());

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("Cannot watch " + below, "EACCES", "lacks permission");
    }

    @ParameterizedTest
    @CsvSource({
        Errno.EACCES + ", EACCES, lacks permission",
        Errno.ENOSPC + ", ENOSPC, fs.inotify.max_user_watches",
        Errno.EMFILE + ", EMFILE, fs.inotify.max_user_instances"
    })
    void refusal_ofTheKernel_namesPathCauseAndRemedy(int errno, String name, String remedy) {
        assertThat(
                        Watch.watchError(
                                Path.of("src"),
                                new SystemCallException("inotify_add_watch(src/a)", errno, 7)))
                .startsWith("Cannot watch src: inotify_add_watch(src/a)")
                .contains(name, remedy);
    }

    @ParameterizedTest
    @CsvSource({
        "--seconds=0,    must be from 1 to 31536000",
        "--seconds=soon, not an int",
        "'',             A path is empty",
        "--minutes=1,    --minutes"
    })
    void watch_nonsense_isNamed(String argument, String expected) {
        Execution execution = Execution.of("watch", argument, directory.toString());

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains(expected);
    }

    @Test
    void watch_ofNothing_isAMistake() {
        assertThat(Execution.of("watch").status()).isEqualTo(2);
    }

    @Test
    void watch_onAnotherSystem_saysWhy() {
        Execution execution = Execution.on("Plan 9", "watch", directory.toString());

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("Plan 9", "gyre doctor");
    }

    @Test
    void help_ofWatch_explainsKindsOptionsAndStatus() {
        Execution execution = Execution.of("help", "watch");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("CREATED", "MODIFIED", "WRITTEN", "DELETED", "MOVED", "OVERFLOW")
                .contains("--flat", "--json", "--seconds", "130", "141", "143")
                .contains("Exit status:", "Examples:");
    }
}
