package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_DONT_FOLLOW;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/// Whether a [Tree] is what the events have led it to believe, for the parts of it that events
/// alone do not prove.
///
/// A path is looked at in the present, and the directories above it may have been moved by then
/// without our knowing. So a look proves nothing by itself: not even that a name is absent, for
/// the path may have led to another directory. But once the events after it have been read, and
/// none of them was about a directory, nothing had changed its place when we looked, and what was
/// seen counts.
///
/// Loop thread only.
final class TreeVerification {
    enum Verdict {
        CONSISTENT,
        /// It takes another read, and another look.
        PENDING,
        INCONSISTENT
    }

    /// An entry of a directory of ours.
    private record Place(DirectoryNode parent, Path name) {}

    private static final long NEVER = -1;

    private final InotifyInstance inotify;

    /// Where directories came and went by moves since everything was last known, or were found
    /// while others above them were moved.
    private final Set<Place> places = new HashSet<>();

    /// Those that were not at their path any more when we had looked into them. If they turn out to
    /// be deleted, what we saw does not matter.
    private final Set<DirectoryNode> strays = new HashSet<>();

    /// How many changes of directories were known at the last look.
    private long verifiedAt = NEVER;

    private boolean matched;

    TreeVerification(InotifyInstance notifications) {
        this.inotify = notifications;
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

    /// Looks, or says what became of the last look. All events that there were are understood.
    Verdict verify() {
        if (places.isEmpty() && strays.isEmpty()) {
            return Verdict.CONSISTENT;
        }
        if (verifiedAt == inotify.directoryChanges()) {
            if (matched) {
                clear();
                return Verdict.CONSISTENT;
            }
            return Verdict.INCONSISTENT;
        }
        matched = strays.isEmpty() && places.stream().allMatch(this::matches);
        verifiedAt = inotify.directoryChanges();
        return Verdict.PENDING;
    }

    private boolean matches(Place place) {
        if (place.parent.descriptor == InotifyInstance.UNWATCHED) {
            return true; // Whatever is there is no longer ours.
        }
        DirectoryNode believed = place.parent.children.get(place.name);
        int known = believed == null ? InotifyInstance.UNWATCHED : believed.descriptor;
        int found = inotify.probe(place.parent.path().resolve(place.name), IN_DONT_FOLLOW);
        if (found < 0 && InotifyInstance.isMissing(-found)) {
            return known == InotifyInstance.UNWATCHED && isAtItsPath(place.parent);
        }
        return found < 0 || found == known;
    }

    /// Whether its path leads to it.
    boolean isAtItsPath(DirectoryNode node) {
        return probe(node) == node.descriptor;
    }

    /// Which directory has the node's path.
    ///
    /// @return the kernel's watch, or `-errno`
    int probe(DirectoryNode node) {
        return inotify.probe(node.path(), node.parent == null ? 0 : IN_DONT_FOLLOW);
    }
}
