package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.os.FileChange.Kind;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;

/// Watches a tree of real directories.
class FileTreeTest {
    @TempDir private Path root;
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
        return FileWatch.tree(loop, root, changes);
    }

    private List<String> reported() throws IOException {
        return changes.take(loop, root);
    }

    private Path path(String name) {
        return root.resolve(name);
    }

    // ------------------------------------------------------------------ reported changes

    @Test
    @Clause("Y-1")
    void tree_reportsChangesAtEveryDepth_butNotWhatIsThere() throws IOException {
        Files.createDirectories(path("a/b/c"));
        Files.createFile(path("a/b/c/old"));
        watch();
        Files.writeString(path("a/b/c/old"), "x");
        Files.createDirectory(path("a/d"));
        assertThat(reported())
                .containsExactly("MODIFIED a/b/c/old", "WRITTEN a/b/c/old", "CREATED a/d");
    }

    @Test
    @Clause("Y-1")
    void directories_createdDeepAtOnce_areReportedWithAllThatIsInThem() throws IOException {
        watch();
        Files.createDirectories(path("a/b/c"));
        Files.createFile(path("a/b/c/file"));
        Files.createFile(path("a/file"));
        assertThat(reported().stream().filter(each -> each.startsWith("CREATED")).toList())
                .containsExactlyInAnyOrder(
                        "CREATED a",
                        "CREATED a/b",
                        "CREATED a/b/c",
                        "CREATED a/b/c/file",
                        "CREATED a/file");
        Files.createDirectory(path("a/b/c/late"));
        assertThat(reported()).containsExactly("CREATED a/b/c/late");
    }

    @Test
    @Clause("Y-1")
    void tree_withAMove_isOneMove_andPathsFollowIt() throws IOException {
        Files.createDirectories(path("a/b/c"));
        Files.createDirectory(path("d"));
        watch();
        Files.move(path("a/b"), path("d/e"));
        assertThat(reported()).containsExactly("MOVED a/b -> d/e");
        Files.createDirectory(path("d/e/c/new"));
        Files.createDirectory(path("a/b"));
        Files.createDirectory(path("a/b/other"));
        assertThat(reported())
                .containsExactly("CREATED d/e/c/new", "CREATED a/b", "CREATED a/b/other");
    }

    @Test
    @Clause("Y-1")
    void directory_movedOut_isDeletedAndNoLongerWatched(@TempDir Path elsewhere)
            throws IOException {
        Files.createDirectories(path("a/b"));
        watch();
        assertThat(KernelWatches.count()).isEqualTo(3);
        Files.move(path("a"), elsewhere.resolve("a"));
        assertThat(reported()).containsExactly("DELETED a");
        assertThat(KernelWatches.count()).isEqualTo(1);
        Files.createDirectory(elsewhere.resolve("a/b/unseen"));
        assertThat(reported()).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void directory_movedIn_isReportedWithAllThatIsInIt(@TempDir Path elsewhere) throws IOException {
        Files.createDirectories(elsewhere.resolve("a/b"));
        Files.createFile(elsewhere.resolve("a/b/file"));
        watch();
        Files.move(elsewhere.resolve("a"), path("in"));
        assertThat(reported()).containsExactly("CREATED in", "CREATED in/b", "CREATED in/b/file");
        Files.createDirectory(path("in/b/new"));
        assertThat(reported()).containsExactly("CREATED in/b/new");
    }

    @Test
    @Clause("Y-1")
    void directory_movedOverAnEmptyOne_takesItsPlace() throws IOException {
        Files.createDirectories(path("a/x"));
        Files.createDirectory(path("b"));
        watch();
        Files.move(path("a"), path("b"), StandardCopyOption.ATOMIC_MOVE);
        assertThat(reported()).containsExactly("MOVED a -> b");
        Files.createDirectory(path("b/x/new"));
        assertThat(reported()).containsExactly("CREATED b/x/new");
    }

    @Test
    @Clause("Y-1")
    void tree_whoseContentsAreDeleted_reportsEachAndGivesTheWatchesBack() throws IOException {
        Files.createDirectories(path("a/b/c"));
        Files.createFile(path("a/b/file"));
        watch();
        FileModel.delete(path("a"));
        assertThat(reported())
                .containsExactly("DELETED a/b/file", "DELETED a/b/c", "DELETED a/b", "DELETED a");
        assertThat(KernelWatches.count()).isEqualTo(1);
    }

    @Test
    @Clause("Y-1")
    void tree_deletedItself_reportsItAndIsOver() throws IOException {
        Path top = Files.createDirectories(path("top"));
        Files.createDirectories(top.resolve("a/b"));
        FileWatch watch = FileWatch.tree(loop, top, changes);
        FileModel.delete(top);
        loop.runUntilEmpty();
        assertThat(Changes.relativeTo(root, changes.all))
                .containsExactly("DELETED top/a/b", "DELETED top/a", "DELETED top");
        assertThat(watch.isOpen()).isFalse();
        assertThat(KernelWatches.count()).isZero();
    }

    @Test
    @Clause("Y-1")
    void tree_movedItself_reportsItAndIsOver() throws IOException {
        Path top = Files.createDirectories(path("top/a")).getParent();
        FileWatch watch = FileWatch.tree(loop, top, changes);
        Files.move(top, path("elsewhere"));
        loop.runUntilEmpty();
        assertThat(Changes.relativeTo(root, changes.all)).containsExactly("DELETED top");
        assertThat(watch.isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void links_areNotFollowed(@TempDir Path elsewhere) throws IOException {
        Files.createSymbolicLink(path("before"), elsewhere);
        Files.createSymbolicLink(path("loop"), root);
        watch();
        Files.createSymbolicLink(path("after"), elsewhere);
        Files.createSymbolicLink(path("Später"), elsewhere);
        assertThat(reported()).containsExactly("CREATED after", "CREATED Später");
        Files.createDirectory(elsewhere.resolve("d"));
        assertThat(reported()).isEmpty();
        assertThat(KernelWatches.count()).isEqualTo(1);
    }

    @Test
    @Clause("Y-1")
    void directories_withNamesOfEverySort_areWatched() throws IOException {
        watch();
        Path raw = Path.of(URI.create(root.toUri() + "%FF"));
        for (Path each : List.of(path("日本"), path("new\nline"), raw)) {
            Files.createDirectory(each);
            assertThat(changes.upToNow(loop, root))
                    .containsExactly(new FileChange(Kind.CREATED, each));
            Files.createDirectories(each.resolve("ü"));
            changes.all.clear();
            assertThat(changes.upToNow(loop, root))
                    .containsExactly(new FileChange(Kind.CREATED, each.resolve("ü")));
            changes.all.clear();
        }
    }

    @Test
    @Clause("Y-1")
    void trees_withinEachOther_areEachTold() throws IOException {
        Changes inner = new Changes();
        Files.createDirectories(path("a/b"));
        watch();
        FileWatch below = FileWatch.tree(loop, path("a"), inner);
        Files.createDirectories(path("a/b/c"));
        assertThat(reported()).containsExactly("CREATED a/b/c");
        assertThat(Changes.relativeTo(root, inner.all)).containsExactly("CREATED a/b/c");
        below.close();
        Files.createDirectories(path("a/b/c/d"));
        assertThat(reported()).containsExactly("CREATED a/b/c/d");
    }

    // ------------------------------------------------------------------ races

    @Test
    @Clause("Y-1")
    void directories_createdDeepWhileTheLoopRuns_areNeitherLostNorReportedTwice()
            throws InterruptedException, IOException {
        watch();
        for (int round = 0; round < 200; round++) {
            Path top = path("round" + round);
            Thread other =
                    Thread.ofPlatform().start(() -> makeDeep(top, new Random(top.hashCode())));
            while (other.isAlive()) {
                loop.runFor(Duration.ZERO);
            }
            other.join();
        }
        changes.upToNow(loop, root);
        List<Path> created = new ArrayList<>();
        for (FileChange change : changes.all) {
            if (change.kind() == Kind.CREATED) {
                created.add(change.path());
            }
        }
        assertThat(new HashSet<>(created)).isEqualTo(FileModel.onDisk(root));
        assertThat(created).as("each is created once").doesNotHaveDuplicates();
    }

    private static void makeDeep(Path top, Random random) {
        try {
            Path deep = top;
            int depth = 1 + random.nextInt(4);
            for (int i = 0; i < depth; i++) {
                deep = deep.resolve("d" + i);
            }
            Files.createDirectories(deep);
            int files = random.nextInt(6);
            for (int i = 0; i < files; i++) {
                int up = random.nextInt(depth);
                Path into = deep;
                for (int step = 0; step < up; step++) {
                    into = into.getParent();
                }
                if (random.nextBoolean()) {
                    Files.createFile(into.resolve("file" + i));
                } else {
                    Files.createDirectories(into.resolve("x" + i + "/y/z"));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
