package dev.gyre.os;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// The state of a program that applies all changes and rescans at every OVERFLOW: at once, or,
/// while other threads change the tree, once they have stopped. A scan during changes is neither
/// the state before a change nor the one after it, and may fail on a name that is gone already.
final class FileModel implements Consumer<FileChange> {
    final Set<Path> known = new TreeSet<>();

    /// All paths ever created or found by a scan.
    final Set<Path> seen = new TreeSet<>();

    private final boolean looksWhenStill;
    private final Set<Path> toLookAt = new TreeSet<>();

    private FileModel(boolean looksWhenStill) {
        this.looksWhenStill = looksWhenStill;
    }

    static FileModel looksAtOnce() {
        return new FileModel(false);
    }

    static FileModel looksWhenStill() {
        return new FileModel(true);
    }

    @Override
    public void accept(FileChange change) {
        switch (change.kind()) {
            case CREATED -> known.add(change.path());
            case DELETED -> forget(change.path());
            case MOVED -> move(change.from(), change.path());
            case OVERFLOW -> {
                toLookAt.add(change.path());
                if (!looksWhenStill) {
                    look();
                }
            }
            case MODIFIED, WRITTEN -> {}
        }
        seen.add(change.path());
    }

    /// No thread changes the tree now, and every change was reported.
    void look() {
        for (Path start : toLookAt) {
            forget(start);
            known.addAll(onDisk(start));
            seen.addAll(known);
        }
        toLookAt.clear();
    }

    private void forget(Path start) {
        known.removeIf(each -> each.startsWith(start));
    }

    private void move(Path from, Path to) {
        List<Path> moving = known.stream().filter(each -> each.startsWith(from)).toList();
        forget(from);
        forget(to);
        for (Path each : moving) {
            known.add(to.resolve(from.relativize(each)));
        }
        known.add(to);
    }

    static Set<Path> onDisk(Path start) {
        try (Stream<Path> all = Files.walk(start)) {
            return new TreeSet<>(all.filter(each -> !each.equals(start)).toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> directories(Path start) {
        return onDisk(start).stream()
                .filter(each -> Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    static void delete(Path start) throws IOException {
        try (Stream<Path> all = Files.walk(start)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
