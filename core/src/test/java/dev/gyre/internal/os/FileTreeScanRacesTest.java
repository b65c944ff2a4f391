package dev.gyre.internal.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.internal.sys.Exchange;
import dev.gyre.internal.sys.FaultyInotify;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.os.Changes;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/// Scans of a path while other threads move the directories above it, so that it leads nowhere or
/// to another directory. Such a result must not count.
class FileTreeScanRacesTest {
    @TempDir private Path root;
    private final Changes changes = new Changes();
    private final FaultyInotify inotify = new FaultyInotify();
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
        OpenFileWatch.tree(loop, root, changes, () -> inotify, LinuxPollCalls::ofThread);
    }

    private Path path(String name) {
        return root.resolve(name);
    }

    private void rename(String from, String to) throws IOException {
        Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE);
    }

    private interface Step {
        void run() throws IOException;
    }

    private static Runnable doing(Step step) {
        return () -> {
            try {
                step.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    private void before(String name, Step step) {
        inotify.before(path(name).toString(), doing(step));
    }

    private void after(String name, Step step) {
        inotify.after(path(name).toString(), doing(step));
    }

    private List<String> reported() throws IOException {
        return changes.take(loop, root);
    }

    private void assertOverflowAndThenSeen(String directory) throws IOException {
        assertThat(reported())
                .as("what cannot be known is an OVERFLOW behind all that was reported")
                .endsWith("OVERFLOW " + root);
        Files.createDirectory(path(directory).resolve("new"));
        assertThat(reported())
                .as("the directory is watched under its path")
                .containsExactly("CREATED " + directory + "/new");
    }

    @Test
    @Clause("Y-1")
    void exchange_whoseDirectoryMovesBeforeTheLook_isAnOverflow() throws IOException {
        Files.createDirectory(path("p"));
        Files.createFile(path("p/f"));
        Files.createFile(path("f"));
        watch();
        before("p", () -> rename("p", "q"));
        Exchange.of(path("f"), path("p/f"));
        assertOverflowAndThenSeen("q");
    }

    @Test
    @Clause("Y-1")
    void exchange_whoseDirectoryMovesDuringTheLook_isAnOverflow() throws IOException {
        Files.createDirectory(path("p"));
        Files.createFile(path("p/f"));
        Files.createFile(path("f"));
        watch();
        after("p", () -> rename("p", "q"));
        Exchange.of(path("f"), path("p/f"));
        assertOverflowAndThenSeen("q");
    }

    @Test
    @Clause("Y-1")
    void exchange_whoseDirectoryIsGoneBeforeTheLook_isOver() throws IOException {
        Files.createDirectory(path("p"));
        Files.createFile(path("p/f"));
        Files.createFile(path("f"));
        watch();
        before(
                "p",
                () -> {
                    Files.delete(path("p/f"));
                    Files.delete(path("p"));
                });
        Exchange.of(path("f"), path("p/f"));
        assertThat(reported())
                .containsExactly("MOVED f -> p/f", "MOVED p/f -> f", "DELETED p/f", "DELETED p");
    }

    @Test
    @Clause("Y-1")
    void absence_atAPathWhoseDirectoryHasMoved_provesNothing() throws IOException {
        Files.createDirectories(path("p/d"));
        Files.createDirectories(path("q/d"));
        watch();
        before("first", () -> rename("p", "q/d"));
        Files.createDirectory(path("first"));
        Exchange.of(path("q/d"), path("p/d"));
        assertOverflowAndThenSeen("q/d/d");
    }

    @Test
    @Clause("Y-1")
    void directory_takenInFromTheSuccessorOfItsParent_isAnOverflow() throws IOException {
        Files.createDirectory(path("p"));
        watch();
        before(
                "p/n",
                () -> {
                    rename("p", "moved");
                    Files.createDirectories(path("p/n"));
                });
        after(
                "p/n",
                () ->
                        after(
                                "p/n",
                                () -> {
                                    Files.delete(path("p/n"));
                                    Files.delete(path("p"));
                                }));
        Files.createDirectories(path("p/n/inside"));
        assertOverflowAndThenSeen("moved/n/inside");
    }

    @Test
    @Clause("Y-1")
    void list_ofASuccessorThatIsGoneToo_isAnOverflow() throws IOException {
        watch();
        after(
                "d",
                () -> {
                    rename("d", "moved");
                    Files.createDirectories(path("d/wrong"));
                    before(
                            "d",
                            () -> {
                                Files.delete(path("d/wrong"));
                                Files.delete(path("d"));
                            });
                });
        Files.createDirectories(path("d/inside"));
        assertOverflowAndThenSeen("moved/inside");
    }

    @Test
    @Clause("Y-1")
    void list_ofADirectoryThatTookThePlaceForAMoment_isAnOverflow() throws IOException {
        Files.createDirectory(path("k"));
        Files.createFile(path("k/wrong"));
        watch();
        after(
                "d",
                () -> {
                    rename("d", "aside");
                    rename("k", "d");
                    before(
                            "d",
                            () -> {
                                rename("d", "gone on");
                                rename("aside", "d");
                            });
                });
        Files.createDirectories(path("d/inside"));
        assertOverflowAndThenSeen("d/inside");
    }

    @Test
    @Clause("Y-1")
    void directory_thatReplacedItsParentUnseen_isWatchedThere() throws IOException {
        Files.createDirectory(path("a"));
        Files.createDirectory(path("b"));
        Files.createDirectories(path("d/e/inside"));
        watch();
        Exchange.of(path("a"), path("b")); // After which events are passed over.
        rename("d/e", "aside");
        Files.delete(path("d"));
        rename("aside", "d");
        assertOverflowAndThenSeen("d");
        Files.createDirectory(path("d/inside/new"));
        assertThat(reported()).containsExactly("CREATED d/inside/new");
    }

    @Test
    @Clause("Y-1")
    void directory_thatMovesBetweenTwoLooksOfARecovery_isListedWhereItIs() throws IOException {
        Files.createDirectory(path("a"));
        Files.createDirectory(path("b"));
        Files.createDirectories(path("k/moving/inside"));
        watch();
        Exchange.of(path("a"), path("b")); // After which events are passed over.
        Files.createDirectories(path("new/and/deep"));
        after("k/moving", () -> rename("k/moving", "new/and/deep/moved"));
        assertOverflowAndThenSeen("new/and/deep/moved/inside");
    }

    // ------------------------------------------------------------------ confirmed results

    @Test
    @Clause("Y-1")
    void directory_deletedAfterItWasListed_isNoOverflow() throws IOException {
        watch();
        after("d", () -> before("d", () -> Files.delete(path("d"))));
        Files.createDirectory(path("d"));
        assertThat(reported()).containsExactly("CREATED d", "DELETED d");
    }

    @Test
    @Clause("Y-1")
    void directory_movedOnceAfterItWasListed_isNoOverflow() throws IOException {
        watch();
        after("d", () -> after("d", () -> rename("d", "e")));
        Files.createDirectories(path("d/inside"));
        assertThat(reported()).containsExactly("CREATED d", "CREATED d/inside", "MOVED d -> e");
        Files.createDirectory(path("e/inside/new"));
        assertThat(reported()).containsExactly("CREATED e/inside/new");
    }

    @Test
    @Clause("Y-1")
    void directory_movedThereAndBack_isTwoMoves() throws IOException {
        Files.createDirectories(path("a/inside"));
        watch();
        rename("a", "b");
        rename("b", "a");
        assertThat(reported()).containsExactly("MOVED a -> b", "MOVED b -> a");
        Files.createDirectories(path("c/inside"));
        assertThat(reported()).containsExactly("CREATED c", "CREATED c/inside");
        rename("c", "b");
        rename("b", "c");
        assertThat(reported()).containsExactly("MOVED c -> b", "MOVED b -> c");
    }

    @Test
    @Clause("Y-1")
    void file_movedOnAndOnInADirectoryThatMoves_isNoOverflow() throws IOException {
        Files.createDirectory(path("a"));
        Files.createFile(path("a/x"));
        watch();
        rename("a/x", "a/y");
        rename("a/y", "a/z");
        rename("a", "b");
        assertThat(reported())
                .containsExactly("MOVED a/x -> a/y", "MOVED a/y -> a/z", "MOVED a -> b");
    }
}
