package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.os.FileChange.Kind;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// Records the changes that a watch reports, and runs a loop until enough of them have arrived.
public final class Changes implements Consumer<FileChange> {
    private static final Duration GUARD = Duration.ofSeconds(20);

    public final List<FileChange> all = new ArrayList<>();

    /// Includes those removed from the list.
    private final Set<FileChange> seen = new HashSet<>();

    private int overflows;

    private static final AtomicInteger MARKS = new AtomicInteger();

    @Override
    public void accept(FileChange change) {
        all.add(change);
        seen.add(change);
        if (change.kind() == Kind.OVERFLOW) {
            overflows++;
        }
    }

    /// Returns whether this change was reported.
    public boolean has(FileChange change) {
        return seen.contains(change);
    }

    /// Runs until all earlier changes are reported: creates and deletes a directory, and runs the
    /// loop until both are reported. They are removed from the list. An OVERFLOW in their place
    /// repeats it.
    public List<FileChange> upToNow(EventLoop loop, Path directory) throws IOException {
        Path mark;
        do {
            mark = directory.resolve("mark " + MARKS.incrementAndGet());
            Files.createDirectory(mark);
            boolean _ = runUntilReported(loop, new FileChange(Kind.CREATED, mark));
            Files.delete(mark);
        } while (!runUntilReported(loop, new FileChange(Kind.DELETED, mark)));
        all.removeIf(change -> change.path().getFileName().toString().startsWith("mark "));
        return all;
    }

    /// @return whether it was reported itself, and not covered by an OVERFLOW
    private boolean runUntilReported(EventLoop loop, FileChange expected) {
        int before = overflows;
        runUntil(loop, () -> has(expected) || overflows > before);
        return has(expected);
    }

    /// Returns the changes as text, with paths relative to the directory, and clears them.
    public List<String> take(EventLoop loop, Path directory) throws IOException {
        List<String> texts = relativeTo(directory, upToNow(loop, directory));
        all.clear();
        return texts;
    }

    static List<String> relativeTo(Path directory, List<FileChange> changes) {
        return changes.stream()
                .map(change -> change.toString().replace(directory + "/", ""))
                .toList();
    }

    /// Runs callbacks one by one until the condition holds.
    public static void runUntil(EventLoop loop, BooleanSupplier condition) {
        boolean[] late = new boolean[1];
        Timer guard = loop.after(GUARD, timer -> late[0] = true);
        while (!condition.getAsBoolean()) {
            loop.runOne();
            assertThat(late[0]).as("what was waited for did not come in %s", GUARD).isFalse();
        }
        guard.cancel();
    }
}
