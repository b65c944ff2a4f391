package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_CREATE;
import static dev.gyre.internal.sys.Linux.IN_DELETE;
import static dev.gyre.internal.sys.Linux.IN_IGNORED;
import static dev.gyre.internal.sys.Linux.IN_ISDIR;
import static dev.gyre.internal.sys.Linux.IN_MODIFY;
import static dev.gyre.internal.sys.Linux.IN_MOVED_FROM;
import static dev.gyre.internal.sys.Linux.IN_MOVED_TO;
import static dev.gyre.internal.sys.Linux.IN_Q_OVERFLOW;
import static dev.gyre.internal.sys.Linux.IN_UNMOUNT;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.os.Changes;
import dev.gyre.os.FileChange;
import dev.gyre.os.FileChange.Kind;
import dev.gyre.os.FileWatch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Streams of inotify events, including malformed ones.
class InotifyReaderTest {
    @TempDir private Path directory;
    private final Changes changes = new Changes();
    private final List<Throwable> caught = new ArrayList<>();
    private EventLoop loop;
    private ScriptedInotify inotify;
    private FileWatch watch;

    @BeforeEach
    void open() {
        loop = EventLoop.open(LoopConfig.DEFAULT.withUncaughtHandler((thread, e) -> caught.add(e)));
        inotify = new ScriptedInotify();
        watch = on(directory, changes);
    }

    @AfterEach
    void close() {
        loop.close();
        inotify.close();
    }

    private FileWatch on(Path path, Changes reported) {
        return OpenFileWatch.on(loop, path, reported, () -> inotify, LinuxPollCalls::ofThread);
    }

    /// Of the watched directory.
    private void event(int mask, int cookie, String name) {
        inotify.event(inotify.watchOf(directory), mask, cookie, name);
    }

    private List<String> reportedUpTo(String mark) {
        FileChange expected = new FileChange(Kind.CREATED, directory.resolve(mark));
        event(IN_CREATE, 0, mark);
        Changes.runUntil(loop, () -> changes.has(expected));
        changes.all.remove(expected);
        List<String> texts =
                changes.all.stream()
                        .map(each -> each.toString().replace(directory + "/", ""))
                        .toList();
        changes.all.clear();
        return texts;
    }

    private void readWhatIsThere() {
        loop.runFor(Duration.ZERO);
        loop.runFor(Duration.ZERO);
    }

    // ------------------------------------------------------------------ moves

    @Test
    @Clause("Y-1")
    void move_whoseHalvesComeInTwoReads_isOneMove() {
        event(IN_MOVED_FROM, 7, "a");
        loop.runFor(Duration.ZERO);
        assertThat(changes.all).isEmpty();
        event(IN_MOVED_TO, 7, "b");
        assertThat(reportedUpTo("mark")).containsExactly("MOVED a -> b");
    }

    @Test
    @Clause("Y-1")
    void move_withOtherEventsBetween_isOneMove() {
        event(IN_MOVED_FROM, 7, "a");
        event(IN_MODIFY, 0, "x");
        event(IN_MODIFY, 0, "b");
        event(IN_MOVED_TO, 7, "b");
        event(IN_DELETE, 0, "b");
        assertThat(reportedUpTo("mark"))
                .containsExactly("MOVED a -> b", "MODIFIED x", "MODIFIED b", "DELETED b");
    }

    @Test
    @Clause("Y-1")
    void move_insideAnother_isToldAfterIt() {
        event(IN_MOVED_FROM, 7, "a");
        event(IN_MOVED_FROM, 8, "c");
        event(IN_MOVED_TO, 8, "d");
        event(IN_MOVED_TO, 7, "b");
        assertThat(reportedUpTo("mark")).containsExactly("MOVED a -> b", "MOVED c -> d");
    }

    @Test
    @Clause("Y-1")
    void exchange_withAMoveElsewhereBetween_leavesBothThere(@TempDir Path elsewhere)
            throws IOException {
        on(elsewhere, new Changes());
        Files.createFile(directory.resolve("a"));
        Files.createFile(directory.resolve("b"));
        event(IN_MOVED_FROM, 7, "a");
        event(IN_MOVED_TO, 7, "b");
        inotify.event(inotify.watchOf(elsewhere), IN_MOVED_FROM, 8, "x");
        inotify.event(inotify.watchOf(elsewhere), IN_MOVED_TO, 8, "y");
        event(IN_MOVED_FROM, 9, "b");
        event(IN_MOVED_TO, 9, "a");
        assertThat(reportedUpTo("mark"))
                .containsExactly("MOVED a -> b", "MOVED b -> a", "CREATED b");
    }

    @Test
    @Clause("Y-1")
    void halves_withoutTheirOther_areDeletedAndCreated() {
        event(IN_MOVED_FROM, 7, "a");
        event(IN_MOVED_TO, 8, "b");
        event(IN_MOVED_FROM, 9, "c");
        event(IN_MODIFY, 0, "d");
        assertThat(reportedUpTo("mark"))
                .containsExactly("DELETED a", "CREATED b", "DELETED c", "MODIFIED d");
    }

    @Test
    @Clause("Y-1")
    void firstHalf_withNothingBehindIt_isDeletedAfterAWhile() {
        event(IN_MOVED_FROM, 7, "a");
        Changes.runUntil(loop, () -> !changes.all.isEmpty());
        assertThat(changes.all)
                .containsExactly(new FileChange(Kind.DELETED, directory.resolve("a")));
        event(IN_MOVED_TO, 7, "b");
        assertThat(reportedUpTo("mark")).containsExactly("DELETED a", "CREATED b");
    }

    @Test
    @Clause("Y-1")
    void close_whileHalfAMoveIsHeld_leavesNothing() {
        event(IN_MOVED_FROM, 7, "a");
        loop.runFor(Duration.ZERO);
        watch.close();
        loop.runUntilEmpty();
        assertThat(changes.all).isEmpty();
        assertThat(loop.shutdown(Duration.ZERO).toCompletableFuture().join().timers()).isZero();
    }

    // ------------------------------------------------------------------ contents of a stream

    @Test
    @Clause("Y-1")
    void events_cutAnywhere_areToldOnce() {
        byte[] event = ScriptedInotify.bytes(inotify.watchOf(directory), IN_DELETE, 0, "name");
        for (int cut = 1; cut < event.length; cut++) {
            inotify.write(Arrays.copyOf(event, cut));
            readWhatIsThere();
            assertThat(changes.all).isEmpty();
            inotify.write(Arrays.copyOfRange(event, cut, event.length));
            assertThat(reportedUpTo("mark" + cut)).containsExactly("DELETED name");
        }
    }

    @Test
    @Clause("Y-1")
    void events_ofAWatchThatWasGivenUp_arePassedOver() {
        inotify.event(99, IN_CREATE, 0, "a");
        inotify.event(99, IN_MOVED_FROM, 7, "a");
        inotify.event(99, IN_MOVED_TO, 7, "b");
        inotify.event(99, IN_IGNORED, 0, "");
        inotify.event(99, IN_UNMOUNT, 0, "");
        assertThat(reportedUpTo("mark")).isEmpty();
        assertThat(caught).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void event_longerThanTheBuffer_isAnOverflow() {
        byte[] endless = ScriptedInotify.bytes(1, IN_CREATE, 0, "");
        Arrays.fill(endless, 12, 16, (byte) 0x7F);
        inotify.write(endless);
        readWhatIsThere();
        inotify.write(new byte[InotifyReader.BUFFER_BYTES - endless.length]);
        Changes.runUntil(loop, () -> !changes.all.isEmpty());
        assertThat(changes.all).containsExactly(new FileChange(Kind.OVERFLOW, directory));
        assertThat(reportedUpTo("mark")).hasSize(1);
    }

    @Test
    @Clause("Y-1")
    void overflow_isToldToEveryWatch_afterWhichTheyGoOn() {
        Changes ofFile = new Changes();
        on(directory.resolve("file"), ofFile);
        event(IN_CREATE, 0, "before");
        inotify.event(-1, IN_Q_OVERFLOW, 0, "");
        Changes.runUntil(loop, () -> !ofFile.all.isEmpty());
        assertThat(ofFile.all)
                .containsExactly(new FileChange(Kind.OVERFLOW, directory.resolve("file")));
        assertThat(reportedUpTo("mark")).containsExactly("CREATED before", "OVERFLOW " + directory);
    }

    @Test
    @Clause("Y-1")
    void overflow_inWhichTheDirectoryVanished_endsTheWatch() {
        inotify.vanish(directory);
        inotify.event(-1, IN_Q_OVERFLOW, 0, "");
        loop.runUntilEmpty();
        assertThat(changes.all)
                .containsExactly(
                        new FileChange(Kind.OVERFLOW, directory),
                        new FileChange(Kind.DELETED, directory));
        assertThat(watch.isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void unmount_ofTheDirectory_endsTheWatch() {
        event(IN_UNMOUNT, 0, "");
        event(IN_IGNORED, 0, "");
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.DELETED, directory));
        assertThat(watch.isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void unmount_insideATree_isAnOverflowThere_andWhatWasCoveredIsWatched() throws IOException {
        Changes ofTree = new Changes();
        Path mounted = Files.createDirectory(directory.resolve("mounted"));
        Files.createFile(mounted.resolve("covered"));
        OpenFileWatch.tree(loop, directory, ofTree, () -> inotify, LinuxPollCalls::ofThread);
        int before = inotify.watchOf(mounted);
        inotify.event(before, IN_UNMOUNT, 0, "");
        inotify.event(before, IN_IGNORED, 0, "");
        Changes.runUntil(loop, () -> ofTree.all.size() == 2);
        assertThat(ofTree.all)
                .containsExactly(
                        new FileChange(Kind.OVERFLOW, mounted),
                        new FileChange(Kind.CREATED, mounted.resolve("covered")));
        inotify.event(inotify.watchOf(mounted), IN_DELETE, 0, "covered");
        Changes.runUntil(loop, () -> ofTree.all.size() == 3);
        assertThat(ofTree.all).endsWith(new FileChange(Kind.DELETED, mounted.resolve("covered")));
    }

    @Test
    @Clause("Y-1")
    void ignored_insideATree_waitsForTheParentToBeTold() throws IOException {
        Changes ofTree = new Changes();
        Path below = Files.createDirectory(directory.resolve("below"));
        OpenFileWatch.tree(loop, directory, ofTree, () -> inotify, LinuxPollCalls::ofThread);
        inotify.event(inotify.watchOf(below), IN_IGNORED, 0, "");
        event(IN_DELETE | IN_ISDIR, 0, "below");
        Changes.runUntil(loop, () -> !ofTree.all.isEmpty());
        assertThat(ofTree.all).containsExactly(new FileChange(Kind.DELETED, below));
        assertThat(inotify.removed).as("the kernel did it").isEmpty();
    }

    @Test
    @Clause("Y-1")
    void stream_thatEnds_endsEveryWatchAndSaysSo() {
        inotify.close();
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.OVERFLOW, directory));
        assertThat(watch.isOpen()).isFalse();
        assertThat(caught).singleElement().asString().contains("has ended");
    }

    // ------------------------------------------------------------------ floods

    @Test
    @Clause("Y-1")
    void flood_ofChanges_holdsUpATurnForSoManyOnly() {
        for (int i = 0; i < 1000; i++) {
            event(IN_CREATE, 0, "file" + i);
        }
        int before = 0;
        for (int turn = 0; turn < 10; turn++) {
            loop.runFor(Duration.ZERO);
            assertThat(changes.all.size() - before)
                    .isLessThanOrEqualTo(ChangeDispatch.MAX_PER_TICK);
            before = changes.all.size();
        }
        assertThat(changes.all).hasSize(1000);
    }

    @Test
    @Clause("Y-1")
    void flood_beyondTheLimit_isOneOverflowForEachThatLost() {
        int watches = 100;
        List<Changes> others = new ArrayList<>();
        for (int i = 0; i < watches; i++) {
            Changes other = new Changes();
            others.add(other);
            on(directory, other);
        }
        int events = 1000;
        for (int i = 0; i < events; i++) {
            event(IN_CREATE, 0, "f" + i);
        }
        FileChange overflow = new FileChange(Kind.OVERFLOW, directory);
        int[] reported = new int[1];
        Changes.runUntil(
                loop,
                () -> {
                    while (reported[0] < watches && others.get(reported[0]).has(overflow)) {
                        reported[0]++;
                    }
                    return reported[0] == watches;
                });
        for (Changes other : others) {
            assertThat(other.all).as("what came in time, and that some did not").endsWith(overflow);
            assertThat(other.all.stream().filter(overflow::equals)).hasSize(1);
            assertThat(other.all.size()).isLessThan(events);
        }
        assertThat(reportedUpTo("mark")).isNotEmpty();
        FileChange mark = new FileChange(Kind.CREATED, directory.resolve("mark"));
        Changes.runUntil(loop, () -> others.getLast().has(mark));
        assertThat(others).as("all go on").allMatch(other -> other.has(mark));
    }
}
