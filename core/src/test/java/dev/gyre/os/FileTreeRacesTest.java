package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.internal.sys.Exchange;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Changes that are outdated when their events are read: names are reused, directories exchange
/// their places. A program that applies the changes must end up with the actual state, and every
/// directory must be watched under its right path.
class FileTreeRacesTest {
    @TempDir private Path root;
    private final Changes changes = new Changes();
    private FileModel belief = FileModel.looksAtOnce();
    private EventLoop loop;

    @BeforeEach
    void open() {
        loop = EventLoop.open();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private void watch() {
        belief.known.addAll(FileModel.onDisk(root));
        FileWatch.tree(loop, root, changes.andThen(belief));
    }

    private Path path(String name) {
        return root.resolve(name);
    }

    private void rename(String from, String to) throws IOException {
        Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE);
    }

    /// Asserts that the state is complete, and that a file in each directory is reported.
    private List<String> reportedAndSettled(String round) throws IOException {
        List<String> reported = changes.take(loop, root);
        belief.look();
        assertThat(belief.known)
                .as("%s: what the changes lead to: %s", round, reported)
                .isEqualTo(FileModel.onDisk(root));
        List<Path> probes = new ArrayList<>();
        for (Path directory : FileModel.directories(root)) {
            probes.add(Files.createFile(directory.resolve("probe")));
        }
        changes.take(loop, root);
        belief.look();
        assertThat(belief.seen)
                .as("%s: every directory is watched under its path, after %s", round, reported)
                .containsAll(probes);
        for (Path probe : probes) {
            Files.delete(probe);
        }
        changes.take(loop, root);
        belief.look();
        belief.seen.clear();
        return reported;
    }

    // ------------------------------------------------------------------ exchanges

    @Test
    @Clause("Y-1")
    void directories_exchanged_areWatchedUnderTheirNewPaths() throws IOException {
        Files.createDirectories(path("a/in-a"));
        Files.createDirectories(path("b/in-b"));
        watch();
        Exchange.of(path("a"), path("b"));
        assertThat(reportedAndSettled("once")).endsWith("OVERFLOW " + root);
        Exchange.of(path("a"), path("b"));
        Exchange.of(path("a"), path("b"));
        reportedAndSettled("there and back");
    }

    @Test
    @Clause("Y-1")
    void directory_exchangedWithAFile_isWatchedUnderItsNewPath() throws IOException {
        Files.createDirectories(path("d/in-d"));
        Files.createFile(path("f"));
        watch();
        Exchange.of(path("d"), path("f"));
        reportedAndSettled("directory first");
        Exchange.of(path("d"), path("f"));
        reportedAndSettled("file first");
    }

    @Test
    @Clause("Y-1")
    void files_exchanged_areBothStillThere() throws IOException {
        Files.createFile(path("a"));
        Files.createFile(path("b"));
        watch();
        Exchange.of(path("a"), path("b"));
        assertThat(reportedAndSettled("files"))
                .containsExactly("MOVED a -> b", "MOVED b -> a", "CREATED b");
    }

    @Test
    @Clause("Y-1")
    void files_exchangedInADirectoryThatMovesThen_areBothStillThere() throws IOException {
        Files.createDirectory(path("d"));
        Files.createFile(path("d/a"));
        Files.createFile(path("d/b"));
        watch();
        Exchange.of(path("d/a"), path("d/b"));
        rename("d", "e");
        reportedAndSettled("files");
    }

    @Test
    @Clause("Y-1")
    void entry_exchangedWithOneElsewhere_isStillThere(@TempDir Path elsewhere) throws IOException {
        Files.createDirectories(elsewhere.resolve("d/in-d"));
        Files.createFile(path("f"));
        watch();
        Exchange.of(elsewhere.resolve("d"), path("f"));
        reportedAndSettled("came first");
        Exchange.of(path("f"), elsewhere.resolve("d"));
        reportedAndSettled("left first");
    }

    // ------------------------------------------------------------------ names used again

    @Test
    @Clause("Y-1")
    void directory_whoseParentMovedAndIsAFileNow_isWatchedWhereItIs() throws IOException {
        Files.createDirectory(path("d"));
        Files.createDirectory(path("k"));
        watch();
        Files.createDirectory(path("d/e"));
        rename("d", "k/d");
        Files.createFile(path("d"));
        assertThat(reportedAndSettled("moved"))
                .containsExactly("CREATED d/e", "MOVED d -> k/d", "CREATED d", "WRITTEN d");
    }

    @Test
    @Clause("Y-1")
    void directory_thatReplacesItsParent_isNotTakenForItsSuccessor() throws IOException {
        Files.createDirectory(path("d"));
        watch();
        Files.createDirectory(path("d/e"));
        rename("d/e", "t");
        rename("t", "d");
        Files.createDirectory(path("d/e"));
        assertThat(reportedAndSettled("replaced")).endsWith("OVERFLOW " + root);
    }

    @Test
    @Clause("Y-1")
    void newDirectory_thatReplacesAnEmptyOne_isReportedWithAllThatIsInIt() throws IOException {
        Files.createDirectory(path("y"));
        watch();
        Files.createDirectory(path("x"));
        Files.createFile(path("x/inside"));
        rename("x", "y");
        assertThat(reportedAndSettled("replaced"))
                .containsExactly("CREATED x", "MOVED x -> y", "CREATED y/inside");
    }

    @Test
    @Clause("Y-1")
    void directory_thatReplacesANewOne_isAnOverflowBehindAllThatWasReported() throws IOException {
        Files.createDirectory(path("k"));
        Files.createFile(path("k/f"));
        watch();
        Files.createDirectory(path("n"));
        rename("k", "n");
        assertThat(reportedAndSettled("replaced")).containsExactly("CREATED n", "OVERFLOW " + root);
    }

    @Test
    @Clause("Y-1")
    void move_afterAnOverflow_isToldOnceAsOneMove() throws IOException {
        Files.createDirectories(path("a/x"));
        Files.createDirectory(path("b"));
        watch();
        Exchange.of(path("a"), path("b"));
        reportedAndSettled("exchanged");
        rename("a", "c");
        assertThat(reportedAndSettled("moved")).containsExactly("MOVED a -> c");
    }

    // ------------------------------------------------------------------ at random

    @ParameterizedTest
    @ValueSource(ints = {3, 20})
    @Clause("Y-1")
    void changes_atRandomBeforeTheLoopRuns_leadToWhatIsOnDisk(int steps) throws IOException {
        watch();
        for (int round = 0; round < 60; round++) {
            stir(new Random(round), steps);
            reportedAndSettled("round " + round);
        }
    }

    @Test
    @Clause("Y-1")
    void changes_atRandomWhileTheLoopRuns_leadToWhatIsOnDisk()
            throws InterruptedException, IOException {
        belief = FileModel.looksWhenStill();
        watch();
        for (int round = 0; round < 60; round++) {
            Random random = new Random(round);
            List<Exception> failed = new ArrayList<>();
            Thread other =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        try {
                                            stir(random, 20);
                                        } catch (IOException e) {
                                            failed.add(e);
                                        }
                                    });
            while (other.isAlive()) {
                loop.runFor(Duration.ZERO);
            }
            other.join();
            assertThat(failed).isEmpty();
            reportedAndSettled("round " + round);
        }
    }

    /// Few names, so that they are reused.
    private void stir(Random random, int steps) throws IOException {
        for (int i = 0; i < steps; i++) {
            List<Path> all = new ArrayList<>(FileModel.onDisk(root));
            List<Path> directories = new ArrayList<>(FileModel.directories(root));
            directories.removeIf(each -> root.relativize(each).getNameCount() > 3);
            directories.add(root);
            Path name =
                    directories
                            .get(random.nextInt(directories.size()))
                            .resolve("n" + random.nextInt(4));
            Path one = all.isEmpty() ? name : all.get(random.nextInt(all.size()));
            boolean apart = !name.startsWith(one) && !one.startsWith(name);
            switch (random.nextInt(6)) {
                case 0 -> {
                    if (!Files.exists(name)) {
                        Files.createDirectories(name.resolve("n0"));
                    }
                }
                case 1 -> {
                    if (!Files.exists(name)) {
                        Files.createFile(name);
                    }
                }
                case 2 -> {
                    if (Files.exists(one)) {
                        FileModel.delete(one);
                    }
                }
                case 3 -> {
                    if (apart && Files.exists(name)) {
                        Exchange.of(one, name);
                    }
                }
                default -> {
                    if (apart && mayReplace(one, name)) {
                        Files.move(one, name, StandardCopyOption.ATOMIC_MOVE);
                    }
                }
            }
        }
    }

    private static boolean mayReplace(Path from, Path to) {
        if (!Files.exists(to)) {
            return true;
        }
        boolean isDirectory = Files.isDirectory(to);
        return isDirectory == Files.isDirectory(from)
                && (!isDirectory || FileModel.onDisk(to).isEmpty());
    }
}
