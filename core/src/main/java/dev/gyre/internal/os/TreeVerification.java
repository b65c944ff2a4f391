package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_DONT_FOLLOW;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/// Checks directories of a [DirectoryTree] whose location inotify events cannot establish.
///
/// A probe of a path sees the present, and the directories above it may have been moved since the
/// last event that was read. So a probe proves nothing by itself, not even that a name is absent:
/// the path may have led to another directory. But once the later events have been read, and none
/// of them concerns a directory, no directory had moved at the time of the probe, and its result
/// counts.
///
/// Loop thread only.
final class TreeVerification {
    enum Verdict {
        CONSISTENT,
        /// Another read and another probe are needed.
        PENDING,
        INCONSISTENT
    }

    /// An entry of a directory of the tree.
    private record Place(DirectoryNode parent, Path name) {}

    private static final long NEVER = -1;

    private final InotifyInstance inotify;

    /// Entries of directories that moved since the last confirmed state, or that were found while
    /// directories above them moved.
    private final Set<Place> places = new HashSet<>();

    /// Directories that had left their path by the end of their scan. If they turn out to be
    /// deleted, the result of the scan does not matter.
    private final Set<DirectoryNode> strays = new HashSet<>();

    /// The number of known directory changes at the last probe.
    private long verifiedAt = NEVER;

    private boolean matched;

    TreeVerification(InotifyInstance inotify) {
        this.inotify = inotify;
    }

    void expectEntry(DirectoryNode parent, Path name) {
        places.add(new Place(parent, name));
        verifiedAt = NEVER;
    }

    void expectRemoval(DirectoryNode node) {
        strays.add(node);
        verifiedAt = NEVER;
    }

    void onRemoved(DirectoryNode node) {
        strays.remove(node);
    }

    void clear() {
        places.clear();
        strays.clear();
        verifiedAt = NEVER;
    }

    /// Probes, or judges the last probe. The caller has processed all events.
    Verdict verify() {
        if (places.isEmpty() && strays.isEmpty()) {
            return Verdict.CONSISTENT;
        }
        if (verifiedAt == inotify.directoryChanges) {
            if (matched) {
                clear();
                return Verdict.CONSISTENT;
            }
            return Verdict.INCONSISTENT;
        }
        matched = strays.isEmpty() && places.stream().allMatch(this::matches);
        verifiedAt = inotify.directoryChanges;
        return Verdict.PENDING;
    }

    private boolean matches(Place place) {
        if (place.parent.descriptor == InotifyInstance.UNWATCHED) {
            return true; // No longer part of the tree.
        }
        DirectoryNode expected = place.parent.children.get(place.name);
        int known = expected == null ? InotifyInstance.UNWATCHED : expected.descriptor;
        int found = inotify.probe(place.parent.path().resolve(place.name), IN_DONT_FOLLOW);
        if (found < 0 && InotifyInstance.isMissing(-found)) {
            return known == InotifyInstance.UNWATCHED && isAtItsPath(place.parent);
        }
        return found < 0 || found == known;
    }

    boolean isAtItsPath(DirectoryNode node) {
        return probe(node) == node.descriptor;
    }

    /// Returns the kernel's watch, or `-errno`.
    int probe(DirectoryNode node) {
        return inotify.probe(node.path(), node.parent == null ? 0 : IN_DONT_FOLLOW);
    }
}
