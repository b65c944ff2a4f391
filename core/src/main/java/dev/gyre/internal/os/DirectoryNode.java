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

/// A directory of a [DirectoryTree]. Its path results from its parent and its name, so moving a
/// directory moves everything below it.
///
/// Loop thread only.
final class DirectoryNode implements DirectoryListener {
    private final DirectoryTree tree;
    final Map<Path, DirectoryNode> children = new HashMap<>(0);

    @Nullable DirectoryNode parent;

    /// The name in its parent; for the root the whole path.
    Path name;

    int descriptor;

    /// The number of the latest scan that found it.
    long foundInScan;

    /// Entries found by a scan, whose events may still arrive.
    private @Nullable Set<Path> reported;

    /// Entries, probably directories, that did not exist at their path when they should have been
    /// watched, and whose deletion is not reported yet. A directory above them may have been moved
    /// at that time.
    private @Nullable Set<Path> missing;

    /// Whether this directory itself was missing when it should have been listed.
    boolean isUnlisted;

    /// The number of the read after which an entry was missing.
    long missedAtRead;

    /// The number of the read after which it was scanned.
    long scannedAtRead;

    /// Moves of this directory, or of one above it, since the scan.
    int movesSinceScan;

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

    /// Returns whether the scanned entry has not been reported yet, as far as this node knows.
    boolean markReported(Path entry) {
        Set<Path> present = reported;
        if (present == null) {
            present = new HashSet<>();
            reported = present;
        }
        return present.add(entry);
    }

    /// Clears the scanned entries once none of their events can be pending.
    ///
    /// @param read a read that drained the kernel's queue
    /// @return whether the scan was before it
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

    /// Returns whether the entry was reported before its event arrived.
    private boolean wasReported(Path entry) {
        return reported != null && reported.remove(entry);
    }

    void addMissing(Path entry, long read) {
        missedAtRead = read;
        Set<Path> present = missing;
        if (present == null) {
            present = new HashSet<>(2);
            missing = present;
        }
        present.add(entry);
    }

    /// Drops the missing entries once no event that explains them can be pending.
    ///
    /// @param read a read that drained the kernel's queue
    /// @return whether nothing is missing
    boolean expireMissing(long read) {
        if (missedAtRead < read) {
            missing = null;
            isUnlisted = false;
        }
        return missing == null && !isUnlisted;
    }

    Set<Path> pollMissing() {
        Set<Path> polled = missing;
        missing = null;
        return polled == null ? Set.of() : polled;
    }

    private void removeEntry(Path entry) {
        boolean _ = wasReported(entry);
        if (missing != null && missing.remove(entry) && missing.isEmpty()) {
            missing = null;
        }
    }

    @Override
    public OpenFileWatch watch() {
        return tree.watch;
    }

    @Override
    public void onEntry(int mask, Path entry) {
        boolean isDirectory = (mask & IN_ISDIR) != 0;
        if (tree.inconsistent) {
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
        if (tree.inconsistent) {
            return;
        }
        if (tree.watch.mayHaveRescanned) {
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
        if (tree.inconsistent) {
            return;
        }
        removeEntry(entry);
        // Also for a file: a directory that has its name since then may be known already.
        DirectoryNode child = children.get(entry);
        if (child != null) {
            tree.removeSubtree(child);
        }
        tree.report(Kind.DELETED, path().resolve(entry));
    }

    @Override
    public void onMovedIn(Path entry, boolean isDirectory) {
        if (tree.inconsistent) {
            return;
        }
        tree.report(Kind.CREATED, path().resolve(entry));
        if (isDirectory) {
            tree.addSubtree(this, entry);
        }
    }

    @Override
    public void onPossibleExchange(Path entry) {
        if (!tree.inconsistent) {
            tree.checkExchanged(this, entry);
        }
    }

    @Override
    public void onSelf(int mask) {
        DirectoryNode above = parent;
        if (above == null) {
            tree.watch.endWith(Kind.DELETED);
        } else if ((mask & IN_UNMOUNT) != 0 && !tree.inconsistent) {
            // The file system was unmounted, and the directory below it is visible again.
            tree.report(Kind.OVERFLOW, path());
            tree.removeSubtree(this);
            tree.addSubtree(above, name);
        } else if ((mask & IN_IGNORED) != 0) {
            tree.onUnwatched(this); // The parent receives the event that explains it.
        }
    }
}
