package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_CREATE;
import static dev.gyre.internal.sys.Linux.IN_DELETE;
import static dev.gyre.internal.sys.Linux.IN_IGNORED;
import static dev.gyre.internal.sys.Linux.IN_ISDIR;
import static dev.gyre.internal.sys.Linux.IN_UNMOUNT;

import dev.gyre.os.FileChange.Kind;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// A directory of a [Tree]. It knows its place by its parent and its name, so that moving a
/// directory moves all below it.
///
/// Loop thread only.
final class DirectoryNode implements DirectoryListener {
    private final DirectoryTree tree;
    final Map<Path, DirectoryNode> children = new HashMap<>(0);

    @Nullable DirectoryNode parent;

    /// In its parent; of the root the whole path.
    Path name;

    int descriptor;

    /// The number of the scan that found it last.
    long foundInScan;

    /// The entries that were found by looking and not by their events, which may still come.
    private @Nullable Set<Path> reported;

    /// The entries, probably directories, that were not at their path when they were to be
    /// watched, and whose end was not told yet: perhaps a directory above them was just being
    /// moved.
    private @Nullable Set<Path> missing;

    /// Whether the same happened to this directory when it was to be listed.
    boolean isUnlisted;

    /// The number of the read after which something was missed.
    private long missedAtRead;

    /// The number of the read after which it was looked at.
    private long scannedAtRead;

    private int movesSinceScan;

    DirectoryNode(DirectoryTree tree, @Nullable DirectoryNode parent, Path name, int descriptor) {
        this.tree = tree;
        this.parent = parent;
        this.name = name;
        this.descriptor = descriptor;
    }

    Path path() {
        return parent == null ? name : parent.path().resolve(name);
    }

    boolean isWithin(DirectoryNode other) {
        DirectoryNode each = this;
        while (each != null && each != other) {
            each = each.parent;
        }
        return each != null;
    }

    // ------------------------------------------------------------------ what was found by looking

    /// Notes that an entry was found by looking.
    ///
    /// @return whether nobody has reported the entry yet, for all this node knows
    boolean markReported(Path entry) {
        Set<Path> present = reported;
        if (present == null) {
            present = new HashSet<>();
            reported = present;
        }
        return present.add(entry);
    }

    void scannedAt(long read) {
        scannedAtRead = read;
    }

    /// By an event read since it was looked at, it was moved, or a directory above it.
    ///
    /// @return how often by now
    int countMove() {
        movesSinceScan++;
        return movesSinceScan;
    }

    /// Forgets them if no event of theirs can still be on its way.
    ///
    /// @param read a read that found all events there were
    /// @return whether this was looked at before it
    boolean expireReported(long read) {
        if (scannedAtRead < read) {
            clearScan();
            return true;
        }
        return false;
    }

    void clearScan() {
        reported = null;
        movesSinceScan = 0;
    }

    /// @return whether the entry was reported before its event came
    private boolean wasReported(Path entry) {
        return reported != null && reported.remove(entry);
    }

    // ------------------------------------------------------------------ what was not there

    void addMissing(Path entry, long read) {
        missedAtRead = read;
        Set<Path> present = missing;
        if (present == null) {
            present = new HashSet<>(2);
            missing = present;
        }
        present.add(entry);
    }

    /// The same for itself, when it was to be listed.
    void markUnlisted(long read) {
        missedAtRead = read;
        isUnlisted = true;
    }

    /// Gives up what is missing if no event can still be on its way that says where it is.
    ///
    /// @param read a read that found all events there were
    /// @return whether nothing is missing any more
    boolean expireMissing(long read) {
        if (missedAtRead < read) {
            missing = null;
            isUnlisted = false;
        }
        return missing == null && !isUnlisted;
    }

    /// What it misses, once.
    Set<Path> takeMissing() {
        Set<Path> taken = missing;
        missing = null;
        return taken == null ? Set.of() : taken;
    }

    private void removeEntry(Path entry) {
        boolean _ = wasReported(entry);
        if (missing != null && missing.remove(entry) && missing.isEmpty()) {
            missing = null;
        }
    }

    // ------------------------------------------------------------------ events

    @Override
    public OpenFileWatch watch() {
        return tree.watch;
    }

    @Override
    public void onEntry(int mask, Path entry) {
        boolean isDirectory = (mask & IN_ISDIR) != 0;
        if (tree.isInconsistent()) {
            return;
        }
        if ((mask & IN_CREATE) != 0) {
            if (!wasReported(entry)) {
                onMovedIn(entry, isDirectory);
            }
        } else if ((mask & IN_DELETE) != 0) {
            onMovedAway(entry);
        } else if (!isDirectory) {
            tree.report(DirectoryScope.kindOf(mask), path().resolve(entry));
        }
    }

    @Override
    public void onMoved(Path entry, DirectoryListener target, Path newName, boolean isDirectory) {
        DirectoryNode to = (DirectoryNode) target;
        if (tree.isInconsistent()) {
            return;
        }
        if (tree.watch.mayHaveRescanned()) {
            onMovedAway(entry);
            to.onMovedIn(newName, isDirectory);
            return;
        }
        removeEntry(entry);
        to.removeEntry(newName);
        tree.watch.reportMoved(path().resolve(entry), to.path().resolve(newName));
        tree.move(this, entry, to, newName, isDirectory);
    }

    @Override
    public void onMovedAway(Path entry) {
        if (tree.isInconsistent()) {
            return;
        }
        removeEntry(entry);
        // Also if it was a file: a directory that took its name since may be known already.
        DirectoryNode child = children.get(entry);
        if (child != null) {
            tree.removeSubtree(child);
        }
        tree.report(Kind.DELETED, path().resolve(entry));
    }

    @Override
    public void onMovedIn(Path entry, boolean isDirectory) {
        if (tree.isInconsistent()) {
            return;
        }
        tree.report(Kind.CREATED, path().resolve(entry));
        if (isDirectory) {
            tree.addSubtree(this, entry);
        }
    }

    @Override
    public void onPossibleExchange(Path entry) {
        if (!tree.isInconsistent()) {
            tree.checkExchanged(this, entry);
        }
    }

    @Override
    public void onSelf(int mask) {
        DirectoryNode above = parent;
        if (above == null) {
            tree.watch.onTargetRemoved();
        } else if ((mask & IN_UNMOUNT) != 0 && !tree.isInconsistent()) {
            // What was mounted here is gone, and what it covered is to be seen again.
            tree.report(Kind.OVERFLOW, path());
            tree.removeSubtree(this);
            tree.addSubtree(above, name);
        } else if ((mask & IN_IGNORED) != 0) {
            tree.onUnwatched(this); // Its parent is told, or has been, what became of it.
        }
    }
}
