package dev.gyre.internal.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyInotify;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.os.Changes;
import dev.gyre.os.FileChange;
import dev.gyre.os.FileChange.Kind;
import dev.gyre.os.FileWatch;
import dev.gyre.os.KernelWatches;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Refuses every call of file watching, and changes directories between two calls.
class FileWatchFaultsTest {
    @TempDir private Path root;
    private final Changes changes = new Changes();
    private final FaultyInotify inotify = new FaultyInotify();
    private final List<Throwable> caught = new ArrayList<>();
    private EventLoop loop;
    private long descriptorsBefore;

    @BeforeEach
    void open() {
        loop = EventLoop.open(LoopConfig.DEFAULT.withUncaughtHandler((thread, e) -> caught.add(e)));
        descriptorsBefore = OpenDescriptors.count();
    }

    @AfterEach
    void close() {
        loop.close();
        assertThat(caught).isEmpty();
    }

    private FileWatch on(Path path) {
        return OpenFileWatch.on(loop, path, changes, () -> inotify, LinuxPollCalls::ofThread);
    }

    private FileWatch tree() {
        return OpenFileWatch.tree(loop, root, changes, () -> inotify, LinuxPollCalls::ofThread);
    }

    private Path path(String name) {
        return root.resolve(name);
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

    private void assertNothingLeft() {
        assertThat(OpenDescriptors.count())
                .as("descriptors")
                .isLessThanOrEqualTo(descriptorsBefore);
        assertThat(KernelWatches.count()).as("watches").isZero();
        assertThat(loop.runUntilEmpty()).as("nothing keeps the loop alive").isZero();
        assertThat(changes.all).isEmpty();
    }

    // ------------------------------------------------------------------ refusals

    @Test
    @Clause("Y-1")
    void init_refused_namesBothLimits() {
        inotify.fail("init", Errno.EMFILE);
        assertThatThrownBy(() -> on(root))
                .isInstanceOf(SystemCallException.class)
                .hasMessageStartingWith("inotify_init1: EMFILE (24)")
                .hasMessageContaining("fs.inotify.max_user_instances")
                .hasMessageContaining("ulimit -n");
        assertNothingLeft();
        inotify.heal();
        on(root).close();
        assertNothingLeft();
    }

    @Test
    @Clause("Y-1")
    void add_refused_namesTheDirectoryAndTheLimit() {
        inotify.fail("add", Errno.ENOSPC);
        assertThatThrownBy(() -> on(root))
                .hasMessageStartingWith("inotify_add_watch(" + root + ")")
                .hasMessageContaining("ENOSPC (28)")
                .hasMessageContaining("fs.inotify.max_user_watches");
        inotify.fail("add", Errno.EACCES);
        assertThatThrownBy(() -> on(path("file")))
                .hasMessageStartingWith("inotify_add_watch(" + root + ")")
                .hasMessageContaining("lacks permission to read");
        assertNothingLeft();
    }

    @Test
    @Clause("Y-1")
    void watching_refusedByTheBackend_leaksNothing() {
        FaultyKernel.Plan plan = new FaultyKernel.Plan();
        try (Loop faulty =
                Loop.open(
                        LoopConfig.DEFAULT, EpollBackend.open(() -> new FaultyKernel(plan), 16))) {
            long before = OpenDescriptors.count();
            plan.fail("epoll_ctl", Errno.ENOSPC);
            assertThatThrownBy(
                            () ->
                                    OpenFileWatch.on(
                                            faulty,
                                            root,
                                            changes,
                                            () -> inotify,
                                            LinuxPollCalls::ofThread))
                    .hasMessageContaining("ENOSPC");
            assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        }
    }

    @Test
    @Clause("Y-1")
    void tree_thatReachesTheLimitHalfWay_throwsAndLeaksNothing() throws IOException {
        Files.createDirectories(path("a/b/c"));
        inotify.fail(path("a/b/c").toString(), Errno.ENOSPC);
        assertThatThrownBy(this::tree)
                .hasMessageStartingWith("inotify_add_watch(" + path("a/b/c") + ")");
        assertNothingLeft();
    }

    @Test
    @Clause("Y-1")
    void tree_thatReachesTheLimitHalfWay_leavesOtherWatchesAlone() throws IOException {
        Files.createDirectories(path("a/b"));
        on(root);
        inotify.fail(path("a/b").toString(), Errno.ENOSPC);
        assertThatThrownBy(this::tree).isInstanceOf(SystemCallException.class);
        assertThat(KernelWatches.count()).isEqualTo(1);
        Files.createDirectory(path("new"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED new");
    }

    @Test
    @Clause("Y-1")
    void tree_thatReachesTheLimitLater_reportsWhatItCannotSee() throws IOException {
        tree();
        inotify.fail(path("one too many").toString(), Errno.ENOSPC);
        Files.createDirectory(path("one too many"));
        assertThat(changes.take(loop, root))
                .containsExactly("CREATED one too many", "OVERFLOW one too many");
        Files.createDirectories(path("other/deep"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED other", "CREATED other/deep");
    }

    @Test
    @Clause("Y-1")
    void tree_withAnUnreadableDirectory_reportsItAndWatchesTheRest() throws IOException {
        Files.createDirectories(path("secret/x"));
        Files.createDirectory(path("open"));
        inotify.fail(path("secret").toString(), Errno.EACCES);
        tree();
        Files.createDirectory(path("open/new"));
        Files.createDirectory(path("secret/new"));
        assertThat(changes.take(loop, root)).containsExactly("OVERFLOW secret", "CREATED open/new");
    }

    @Test
    @Clause("Y-1")
    void remove_refused_doesNotMatter() throws IOException {
        FileWatch tree = tree();
        inotify.fail("remove", Errno.EINVAL);
        Files.createDirectory(path("a"));
        changes.take(loop, root);
        on(root);
        tree.close();
        assertThat(tree.isOpen()).isFalse();
    }

    @Test
    @Clause("Y-1")
    void read_refused_endsEveryWatchAndIsHandedOver() throws IOException {
        PollCalls refusing = kernelThatReadsNothing();
        FileWatch watch = OpenFileWatch.on(loop, root, changes, () -> inotify, () -> refusing);
        Files.createDirectory(path("a"));
        loop.runUntilEmpty();
        assertThat(changes.all).containsExactly(new FileChange(Kind.OVERFLOW, root));
        assertThat(watch.isOpen()).isFalse();
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(descriptorsBefore);
        assertThat(caught).singleElement().asString().contains("EIO");
        caught.clear();
    }

    @Test
    @Clause("Y-1")
    void watch_openedAfterAReadWasRefused_isGivenAnotherInstance() throws IOException {
        Changes later = new Changes();
        PollCalls refusing = kernelThatReadsNothing();
        FileWatch lost = OpenFileWatch.on(loop, root, changes, () -> inotify, () -> refusing);
        Files.createDirectory(path("a"));
        Changes.runUntil(loop, () -> !caught.isEmpty());
        assertThat(lost.isOpen()).as("its last change is still on its way").isTrue();
        FileWatch watch =
                OpenFileWatch.on(loop, root, later, FaultyInotify::new, LinuxPollCalls::ofThread);
        Files.createDirectory(path("b"));
        assertThat(later.take(loop, root)).containsExactly("CREATED b");
        assertThat(changes.all).containsExactly(new FileChange(Kind.OVERFLOW, root));
        watch.close();
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(descriptorsBefore);
        caught.clear();
    }

    @Test
    @Clause("Y-1")
    void loop_closedAfterAReadWasRefused_closesTheWatchesThatWereNotToldYet() throws IOException {
        PollCalls refusing = kernelThatReadsNothing();
        FileWatch lost = OpenFileWatch.on(loop, root, changes, () -> inotify, () -> refusing);
        Files.createDirectory(path("a"));
        Changes.runUntil(loop, () -> !caught.isEmpty());
        loop.close();
        assertThat(lost.isOpen()).isFalse();
        assertThat(KernelWatches.count()).isZero();
        caught.clear();
    }

    private static PollCalls kernelThatReadsNothing() {
        return (PollCalls)
                Proxy.newProxyInstance(
                        PollCalls.class.getClassLoader(),
                        new Class<?>[] {PollCalls.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("read")) {
                                return (long) -Errno.EIO;
                            }
                            try {
                                return method.invoke(LinuxPollCalls.ofThread(), arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    // ------------------------------------------------------------------ between two calls

    @Test
    @Clause("Y-1")
    void file_createdBetweenWatchingAndListing_isReportedOnce() throws IOException {
        tree();
        inotify.after(path("d").toString(), doing(() -> Files.createDirectories(path("d/e/f"))));
        Files.createDirectory(path("d"));
        assertThat(changes.take(loop, root))
                .containsExactly("CREATED d", "CREATED d/e", "CREATED d/e/f");
        Files.delete(path("d/e/f"));
        Files.createDirectory(path("d/e/f"));
        assertThat(changes.take(loop, root))
                .as("the next one of that name is another one")
                .containsExactly("DELETED d/e/f", "CREATED d/e/f");
    }

    @Test
    @Clause("Y-1")
    void directory_deletedBeforeItIsWatched_isPassedOver() throws IOException {
        tree();
        inotify.before(path("d").toString(), doing(() -> Files.delete(path("d"))));
        Files.createDirectory(path("d"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED d", "DELETED d");
        Files.createDirectory(path("d"));
        Files.createDirectory(path("d/x"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED d", "CREATED d/x");
    }

    @Test
    @Clause("Y-1")
    void directory_movedBeforeItIsWatched_isTakenInWhereItIs() throws IOException {
        tree();
        inotify.before(path("d").toString(), doing(() -> Files.move(path("d"), path("e"))));
        Files.createDirectory(path("d"));
        Files.createDirectory(path("d/x"));
        assertThat(changes.take(loop, root))
                .containsExactly("CREATED d", "MOVED d -> e", "CREATED e/x");
        Files.createDirectory(path("e/x/y"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED e/x/y");
    }

    @Test
    @Clause("Y-1")
    void directory_whoseParentMovesBeforeItIsWatched_isTakenInThere() throws IOException {
        Files.createDirectory(path("a"));
        tree();
        inotify.before(path("a/d").toString(), doing(() -> Files.move(path("a"), path("b"))));
        Files.createDirectories(path("a/d/x"));
        assertThat(changes.take(loop, root))
                .containsExactly("CREATED a/d", "MOVED a -> b", "CREATED b/d/x");
        Files.createDirectory(path("b/d/x/y"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED b/d/x/y");
    }

    @Test
    @Clause("Y-1")
    void directory_takenForAnother_isAnOverflow_afterWhichBothAreWatched() throws IOException {
        tree();
        inotify.before(
                path("d").toString(),
                doing(
                        () -> {
                            Files.move(path("d"), path("first"));
                            Files.createDirectory(path("d"));
                        }));
        Files.createDirectory(path("d"));
        assertThat(changes.take(loop, root)).contains("OVERFLOW " + root);
        Files.createDirectory(path("first/x"));
        Files.createDirectory(path("d/x"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED first/x", "CREATED d/x");
    }

    @Test
    @Clause("Y-1")
    void directory_deletedBetweenWatchingAndListing_isPassedOver() throws IOException {
        tree();
        inotify.after(path("d").toString(), doing(() -> Files.delete(path("d"))));
        Files.createDirectory(path("d"));
        assertThat(changes.take(loop, root)).containsExactly("CREATED d", "DELETED d");
        assertThat(KernelWatches.count()).isEqualTo(1);
    }
}
