package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Exchange;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.os.FileChange.Kind;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Watches a real directory or file.
class FileWatchTest {
    @TempDir private Path directory;
    private final Changes changes = new Changes();
    private EventLoop loop;

    @BeforeEach
    void open() {
        loop = EventLoop.open();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private FileWatch watch() {
        return FileWatch.on(loop, directory, changes);
    }

    private List<String> reported() throws IOException {
        return changes.take(loop, directory);
    }

    private Path path(String name) {
        return directory.resolve(name);
    }

    // ------------------------------------------------------------------ kinds

    @Test
    @Clause("Y-1")
    void on_directory_reportsEachKind() throws IOException {
        watch();
        Files.createFile(path("a"));
        assertThat(reported()).containsExactly("CREATED a", "WRITTEN a");
        try (OutputStream out = Files.newOutputStream(path("a"))) {
            out.write('x');
            assertThat(reported()).containsExactly("MODIFIED a");
        }
        assertThat(reported()).containsExactly("WRITTEN a");
        Files.move(path("a"), path("b"));
        assertThat(reported()).containsExactly("MOVED a -> b");
        Files.delete(path("b"));
        assertThat(reported()).containsExactly("DELETED b");
        Files.createDirectory(path("d"));
        assertThat(reported()).containsExactly("CREATED d");
        Files.createFile(path("d/below"));
        assertThat(reported()).as("what is below an entry is not watched").isEmpty();
        Files.delete(path("d/below"));
        Files.delete(path("d"));
        assertThat(reported()).containsExactly("DELETED d");
    }

    @Test
    @Clause("Y-1")
    void on_directory_reportsNothingOfWhatIsThere() throws IOException {
        Files.createFile(path("old"));
        watch();
        assertThat(reported()).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void move_toWhereNobodyWatches_isDeleted_andBack_isCreated(@TempDir Path elsewhere)
            throws IOException {
        Files.createFile(path("a"));
        watch();
        Files.move(path("a"), elsewhere.resolve("a"));
        assertThat(reported()).containsExactly("DELETED a");
        Files.move(elsewhere.resolve("a"), path("b"));
        assertThat(reported()).containsExactly("CREATED b");
    }

    @Test
    @Clause("Y-1")
    void move_outAlone_isReportedWithoutAnotherEvent(@TempDir Path elsewhere) throws IOException {
        Files.createFile(path("a"));
        watch();
        Files.move(path("a"), elsewhere.resolve("a"));
        Changes.runUntil(loop, () -> !changes.all.isEmpty());
        assertThat(changes.all).containsExactly(new FileChange(Kind.DELETED, path("a")));
    }

    @Test
    @Clause("Y-1")
    void move_fromOneWatchToAnother_isDeletedThereAndCreatedHere(@TempDir Path other)
            throws IOException {
        Changes there = new Changes();
        watch();
        FileWatch.on(loop, other, there);
        Files.createFile(path("a"));
        assertThat(reported()).containsExactly("CREATED a", "WRITTEN a");
        Files.move(path("a"), other.resolve("b"));
        assertThat(reported()).containsExactly("DELETED a");
        assertThat(there.all).containsExactly(new FileChange(Kind.CREATED, other.resolve("b")));
    }

    @Test
    @Clause("Y-1")
    void move_overAnExistingFile_isOneMove() throws IOException {
        Files.createFile(path("config"));
        watch();
        Files.writeString(path("config.new"), "x");
        Files.move(path("config.new"), path("config"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(reported())
                .containsExactly(
                        "CREATED config.new",
                        "MODIFIED config.new",
                        "WRITTEN config.new",
                        "MOVED config.new -> config");
    }

    @Test
    @Clause("Y-1")
    void exchange_ofTwoFiles_endsWithBothThere() throws IOException {
        Files.createFile(path("a"));
        Files.createFile(path("b"));
        watch();
        Exchange.of(path("a"), path("b"));
        assertThat(reported()).containsExactly("MOVED a -> b", "MOVED b -> a", "CREATED b");
    }

    @Test
    @Clause("Y-1")
    void names_ofEverySort_areReportedExactly() throws IOException {
        watch();
        Path raw = Path.of(URI.create(directory.toUri() + "%FF%FE%0A"));
        List<Path> odd =
                List.of(
                        path("Grüße 日本語 🙂"),
                        path("new\nline"),
                        path("percent%41 +?#"),
                        path("-"),
                        path("n".repeat(255)),
                        raw);
        for (Path each : odd) {
            Files.createDirectory(each);
        }
        assertThat(changes.upToNow(loop, directory).stream().map(FileChange::path).toList())
                .containsExactlyElementsOf(odd);
        for (FileChange change : changes.all) {
            assertThat(Files.isDirectory(change.path())).as("%s is not the same", change).isTrue();
        }
    }

    @Test
    @Clause("Y-1")
    void on_relativePath_reportsPathsThatBeginWithIt() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        Path relative = here.relativize(directory.toRealPath());
        FileWatch.on(loop, relative, changes);
        Files.createDirectory(path("d"));
        Changes.runUntil(loop, () -> !changes.all.isEmpty());
        assertThat(changes.all.getFirst().path()).isEqualTo(relative.resolve("d"));
    }

    @Test
    @Clause("Y-1")
    void on_linkToADirectory_watchesThatDirectory(@TempDir Path elsewhere) throws IOException {
        Path link = Files.createSymbolicLink(elsewhere.resolve("link"), directory);
        FileWatch.on(loop, link, changes);
        Files.createDirectory(path("d"));
        Changes.runUntil(loop, () -> !changes.all.isEmpty());
        assertThat(changes.all).containsExactly(new FileChange(Kind.CREATED, link.resolve("d")));
    }

    // ------------------------------------------------------------------ a file

    /// A watch on another directory shows when everything has been reported.
    private List<String> reportedOfFile(Changes beside) throws IOException {
        beside.take(loop, directory);
        List<String> texts = Changes.relativeTo(directory, changes.all);
        changes.all.clear();
        return texts;
    }

    @Test
    @Clause("Y-1")
    void on_file_isToldOfThatNameOnly() throws IOException {
        Changes beside = new Changes();
        Files.createFile(path("log"));
        FileWatch.on(loop, path("log"), changes);
        FileWatch.on(loop, directory, beside);
        Files.writeString(path("log"), "x");
        Files.writeString(path("log2"), "x");
        assertThat(reportedOfFile(beside)).containsExactly("MODIFIED log", "WRITTEN log");
    }

    @Test
    @Clause("Y-1")
    void on_file_thatComesLater_isCreated() throws IOException {
        Changes beside = new Changes();
        FileWatch.on(loop, path("later"), changes);
        FileWatch.on(loop, directory, beside);
        Files.createFile(path("later"));
        assertThat(reportedOfFile(beside)).containsExactly("CREATED later", "WRITTEN later");
        Files.delete(path("later"));
        assertThat(reportedOfFile(beside)).containsExactly("DELETED later");
    }

    @Test
    @Clause("Y-1")
    void on_file_renamedOver_isCreated() throws IOException {
        Changes beside = new Changes();
        Files.createFile(path("config"));
        FileWatch.on(loop, path("config"), changes);
        FileWatch.on(loop, directory, beside);
        Files.createFile(path("config~"));
        Files.move(path("config~"), path("config"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(reportedOfFile(beside)).containsExactly("CREATED config");
        Files.writeString(path("config"), "again");
        assertThat(reportedOfFile(beside)).containsExactly("MODIFIED config", "WRITTEN config");
    }

    @Test
    @Clause("Y-1")
    void on_file_throughRotation_staysWithTheName() throws IOException {
        Changes beside = new Changes();
        Files.createFile(path("log"));
        FileWatch.on(loop, path("log"), changes);
        FileWatch.on(loop, directory, beside);
        for (int i = 1; i <= 3; i++) {
            Files.move(path("log"), path("log." + i));
            Files.createFile(path("log"));
            Files.writeString(path("log." + i), "the last lines");
            assertThat(reportedOfFile(beside))
                    .containsExactly("DELETED log", "CREATED log", "WRITTEN log");
        }
    }

    @Test
    @Clause("Y-1")
    void on_fileInTheWorkingDirectory_needsNoDirectoryInItsPath() {
        try (FileWatch watch = FileWatch.on(loop, Path.of("no-such-file"), changes)) {
            assertThat(watch.isOpen()).isTrue();
            assertThat(watch.path()).isEqualTo(Path.of("no-such-file"));
        }
    }

    // ------------------------------------------------------------------ several watches

    @Test
    @Clause("Y-1")
    void on_sameDirectoryTwice_closingOneKeepsTheOther() throws IOException {
        Changes second = new Changes();
        FileWatch first = watch();
        FileWatch other = FileWatch.on(loop, directory, second);
        assertThat(KernelWatches.count()).as("shared by both").isEqualTo(1);
        Files.createDirectory(path("a"));
        assertThat(reported()).containsExactly("CREATED a");
        first.close();
        Files.createDirectory(path("b"));
        assertThat(second.take(loop, directory)).endsWith("CREATED b");
        assertThat(changes.all).isEmpty();
        other.close();
        assertThat(KernelWatches.count()).isZero();
    }

    @Test
    @Clause("Y-1")
    void on_sameDirectoryAsATree_eachIsToldOnce() throws IOException {
        Changes ofTree = new Changes();
        FileWatch tree = FileWatch.tree(loop, directory, ofTree);
        watch();
        Files.createDirectories(path("a/b"));
        assertThat(reported()).containsExactly("CREATED a");
        tree.close();
        assertThat(Changes.relativeTo(directory, ofTree.all)).contains("CREATED a", "CREATED a/b");
        assertThat(KernelWatches.count()).as("the tree gave its own back").isEqualTo(1);
        Files.createDirectory(path("c"));
        assertThat(reported()).containsExactly("CREATED c");
    }

    @Test
    @Clause("Y-1")
    void watches_ofALoop_shareOneDescriptor_closedWithTheLast() {
        long before = OpenDescriptors.count();
        List<FileWatch> watches = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            watches.add(FileWatch.on(loop, path("file" + i), changes));
        }
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before + 1);
        watches.forEach(FileWatch::close);
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        watch();
        assertThat(OpenDescriptors.count()).as("and opened again").isLessThanOrEqualTo(before + 1);
    }

    // ------------------------------------------------------------------ the end

    @Test
    @Clause("Y-1")
    void directory_deleted_isReportedAndTheWatchIsOver() throws IOException {
        Path watched = Files.createDirectory(path("watched"));
        List<Boolean> openInCallback = new ArrayList<>();
        FileWatch[] watch = new FileWatch[1];
        watch[0] =
                FileWatch.on(
                        loop,
                        watched,
                        change -> {
                            changes.accept(change);
                            openInCallback.add(watch[0].isOpen());
                        });
        Files.delete(watched);
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.DELETED, watched));
        assertThat(openInCallback).containsExactly(false);
        assertThat(watch[0].isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void directory_movedAway_isReportedAndTheWatchIsOver() throws IOException {
        long before = OpenDescriptors.count();
        Path watched = Files.createDirectory(path("watched"));
        FileWatch watch = FileWatch.on(loop, watched, changes);
        Files.move(watched, path("moved"));
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.DELETED, watched));
        assertThat(watch.isOpen()).isFalse();
        assertThat(OpenDescriptors.count()).as("nothing is left").isLessThanOrEqualTo(before);
    }

    @Test
    @Clause("Y-1")
    void directory_ofAWatchedFile_deleted_endsTheWatchWithTheFilesPath() throws IOException {
        Path file = Files.createDirectory(path("d")).resolve("file");
        FileWatch watch = FileWatch.on(loop, file, changes);
        Files.delete(path("d"));
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.DELETED, file));
        assertThat(watch.isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void close_insideACallback_stopsTheRestOfTheBatch() throws IOException {
        FileWatch[] watch = new FileWatch[1];
        watch[0] =
                FileWatch.on(
                        loop,
                        directory,
                        change -> {
                            changes.accept(change);
                            watch[0].close();
                        });
        for (int i = 0; i < 10; i++) {
            Files.createDirectory(path("d" + i));
        }
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.CREATED, path("d0")));
        assertThat(watch[0].isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void close_ofAnotherWatchInsideACallback_keepsItFromItsChanges() throws IOException {
        Changes never = new Changes();
        FileWatch[] other = new FileWatch[1];
        FileWatch first = FileWatch.on(loop, directory, change -> other[0].close());
        other[0] = FileWatch.on(loop, directory, never);
        Files.createDirectory(path("d"));
        Changes.runUntil(loop, () -> !other[0].isOpen());
        first.close();
        loop.runUntilEmpty();
        assertThat(never.all).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void close_byTheEndOfTheLoop_closesEverything() {
        long before = OpenDescriptors.count();
        FileWatch watch;
        FileWatch tree;
        try (EventLoop other = EventLoop.open()) {
            watch = FileWatch.on(other, directory, changes);
            tree = FileWatch.tree(other, directory, changes);
        }
        assertThat(watch.isOpen()).isFalse();
        assertThat(tree.isOpen()).isFalse();
        watch.close();
        watch.unreference();
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }

    @Test
    @Clause("Y-1")
    void unreference_letsRunUntilEmptyReturn_andReferenceTakesItBack() throws IOException {
        FileWatch watch = watch().unreference();
        FileWatch other = FileWatch.on(loop, path("file"), changes);
        other.unreference().unreference();
        assertThat(loop.runUntilEmpty()).isZero();
        watch.reference();
        Files.createDirectory(path("d"));
        Changes.runUntil(loop, () -> !changes.all.isEmpty());
        watch.close();
        other.close();
        assertThat(loop.runUntilEmpty()).isZero();
    }

    // ------------------------------------------------------------------ callbacks

    @Test
    @Clause("Y-1")
    void callback_thatThrows_costsNoOtherChange() throws IOException {
        List<Throwable> caught = new ArrayList<>();
        try (EventLoop isolating =
                EventLoop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler((thread, e) -> caught.add(e)))) {
            FileWatch.on(
                    isolating,
                    directory,
                    change -> {
                        changes.accept(change);
                        throw new IllegalStateException(change.toString());
                    });
            Files.createDirectory(path("a"));
            Files.createDirectory(path("b"));
            Changes.runUntil(isolating, () -> caught.size() == 2);
            assertThat(Changes.relativeTo(directory, changes.all))
                    .containsExactly("CREATED a", "CREATED b");
        }
    }

    @Test
    @Clause("Y-1")
    void callback_thatThrowsUnderPropagate_leavesRunAndTheNextRunGoesOnBehindIt()
            throws IOException {
        try (EventLoop propagating =
                EventLoop.open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE))) {
            FileWatch.on(
                    propagating,
                    directory,
                    change -> {
                        changes.accept(change);
                        throw new IllegalStateException(change.toString());
                    });
            Files.createDirectory(path("a"));
            Files.createDirectory(path("b"));
            assertThatThrownBy(propagating::run).hasMessage("CREATED " + path("a"));
            assertThatThrownBy(propagating::run).hasMessage("CREATED " + path("b"));
        }
    }

    @Test
    @Clause("Y-1")
    void callback_mayOpenAndCloseWatches() throws IOException {
        Changes inner = new Changes();
        FileWatch.on(
                loop,
                directory,
                change -> {
                    if (change.kind() == Kind.CREATED) {
                        FileWatch.on(loop, change.path(), inner);
                    }
                });
        Path below = Files.createDirectory(path("d"));
        Changes.runUntil(loop, () -> KernelWatches.count() == 2);
        Files.createDirectory(below.resolve("e"));
        Changes.runUntil(loop, () -> !inner.all.isEmpty());
        assertThat(inner.all).containsExactly(new FileChange(Kind.CREATED, below.resolve("e")));
    }

    // ------------------------------------------------------------------ misuse and limits

    @Test
    @Clause("Y-1")
    void on_whoseDirectoryIsMissing_saysWhich() {
        long before = OpenDescriptors.count();
        Path missing = path("missing");
        assertThatThrownBy(() -> FileWatch.on(loop, missing.resolve("file"), changes))
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> assertThat(e.errnoName()).isEqualTo("ENOENT"))
                .hasMessageStartingWith("inotify_add_watch(" + missing + ")")
                .hasMessageEndingWith("the directory does not exist");
        assertThatThrownBy(() -> FileWatch.tree(loop, missing, changes))
                .hasMessageStartingWith("inotify_add_watch(" + missing + ")");
        assertThat(OpenDescriptors.count()).as("nothing is leaked").isLessThanOrEqualTo(before);
        assertThat(loop.runUntilEmpty()).isZero();
    }

    @Test
    @Clause("Y-1")
    void on_belowAFile_andTreeOfAFile_sayThatItIsNoDirectory() throws IOException {
        Path file = Files.createFile(path("file"));
        assertThatThrownBy(() -> FileWatch.on(loop, file.resolve("below"), changes))
                .hasMessageStartingWith("inotify_add_watch(" + file + ")")
                .hasMessageContaining("ENOTDIR (20): the path, or a part of it, is not a");
        assertThatThrownBy(() -> FileWatch.tree(loop, file, changes))
                .hasMessageStartingWith("inotify_add_watch(" + file + ")")
                .hasMessageContaining("ENOTDIR");
    }

    @Test
    @Clause("Y-1")
    void misuse_throwsAtOnce() throws IOException {
        assertThatThrownBy(() -> FileWatch.on(loop, directory, null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("callback");
        try (FileSystem zip = FileSystems.newFileSystem(path("a.zip"), Map.of("create", "true"))) {
            assertThatThrownBy(() -> FileWatch.on(loop, zip.getPath("/"), changes))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("a.zip");
        }
        FileWatch watch = watch();
        loop.close();
        assertThatThrownBy(this::watch).isInstanceOf(LoopTerminatedException.class);
        assertThat(watch.isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void confinedMethods_fromAnotherThread_throw() throws InterruptedException {
        FileWatch watch = watch();
        Thread other = Thread.ofPlatform().start(() -> loop.run());
        while (!loop.state().name().equals("SLEEPING")) {
            Thread.onSpinWait();
        }
        assertThatThrownBy(watch::close).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(watch::isOpen).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(watch::unreference).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(this::watch)
                .isInstanceOf(WrongThreadException.class)
                .hasMessageContaining("FileWatch.on");
        loop.stop();
        other.join();
        assertThat(watch.isOpen()).isTrue();
    }

    @Test
    @Clause("Y-1")
    void overflow_ofTheKernelsQueue_isReportedAndWatchingGoesOn() throws IOException {
        // By lines: such a file must be read with one call, and readString starts with one byte.
        Path setting = Path.of("/proc/sys/fs/inotify/max_queued_events");
        int limit = Integer.parseInt(Files.readAllLines(setting).getFirst());
        assumeTrue(limit <= 100_000, "fs.inotify.max_queued_events is too large to fill: " + limit);
        Changes ofTree = new Changes();
        Files.createDirectory(path("sub"));
        watch();
        FileWatch.tree(loop, directory, ofTree);
        // Alternating, because the kernel merges equal adjacent events.
        try (OutputStream one = Files.newOutputStream(path("one"));
                OutputStream two = Files.newOutputStream(path("two"))) {
            for (int i = 0; i <= limit / 2; i++) {
                one.write('x');
                two.write('x');
            }
        }
        Files.move(path("sub"), path("unnoticed"));
        Files.createDirectories(path("new/deep"));
        FileChange overflow = new FileChange(Kind.OVERFLOW, directory);
        Changes.runUntil(loop, () -> changes.has(overflow));
        Changes.runUntil(loop, () -> ofTree.has(overflow));
        ofTree.all.clear();
        Files.createDirectory(path("new/deep/file"));
        Files.createDirectory(path("unnoticed/file"));
        assertThat(ofTree.take(loop, directory))
                .containsExactly("CREATED new/deep/file", "CREATED unnoticed/file");
        assertThat(KernelWatches.count())
                .as("the directory itself, unnoticed, new, new/deep, and the two made just now")
                .isEqualTo(6);
    }

    @Test
    @Clause("Y-1")
    void change_saysWhatHappened() {
        assertThat(new FileChange(Kind.CREATED, Path.of("a"))).hasToString("CREATED a");
        assertThat(new FileChange(Kind.MOVED, Path.of("b"), Path.of("a")))
                .hasToString("MOVED a -> b");
        assertThatThrownBy(() -> new FileChange(Kind.MOVED, Path.of("b")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new FileChange(Kind.DELETED, Path.of("b"), Path.of("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("DELETED");
    }
}
