package dev.gyre.internal.os;

import static dev.gyre.internal.base.Log.LOG;
import static dev.gyre.internal.sys.Linux.IN_DONT_FOLLOW;

import dev.gyre.SystemCallException;
import dev.gyre.internal.os.TreeVerification.Verdict;
import dev.gyre.os.FileChange.Kind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// Watches a directory and all directories below it, each with a kernel watch of its own.
///
/// A new directory becomes known by the event of its creation, and by then it may have entries that
/// no watch has seen. So it is watched first and then listed. Listed entries are reported at once;
/// their events, if any, arrive later and are skipped ([DirectoryNode#markReported]).
///
/// Events are history, while the file system shows the present. The path of an event may no longer
/// exist, because the directory is gone, or because one above it was renamed. Then the entry is
/// *missing* until another event explains it, and is retried when a directory above it moves.
///
/// Or the path may lead to another directory. The kernel identifies it, since a directory that is
/// watched already returns the same watch again. If that one is elsewhere in the tree, or an event
/// contradicts the tree, the reported history is wrong: the tree is *inconsistent*. It then skips
/// all pending events, rescans everything once none is left, and reports one OVERFLOW. It does the
/// same if a moved directory is not where the events have led it, or if a scan may have listed
/// another directory ([TreeVerification]).
///
/// Loop thread only.
final class DirectoryTree implements OpenFileWatch.Scope {
    /// Why directories are scanned.
    private enum Purpose {
        /// Reports nothing, and throws if a directory cannot be watched.
        OPENING,
        /// Reports all entries as new.
        ADDITION,
        /// Reports nothing, because the user rescans.
        RECOVERY
    }

    final OpenFileWatch watch;
    private final InotifyInstance inotify;
    private final Map<Integer, DirectoryNode> nodes = new HashMap<>();
    private @Nullable DirectoryNode root;

    private final TreeVerification verification;
    boolean inconsistent;
    private long scans;

    /// Directories with missing entries.
    private final Set<DirectoryNode> incomplete = new HashSet<>();

    DirectoryTree(OpenFileWatch watch, InotifyInstance inotify) {
        this.watch = watch;
        this.inotify = inotify;
        verification = new TreeVerification(inotify);
    }

    @Override
    public void open() {
        int descriptor = inotify.requireWatch(watch.path());
        DirectoryNode top = new DirectoryNode(this, null, watch.path(), descriptor);
        root = top;
        register(top);
        scan(top, Purpose.OPENING);
    }

    @Override
    public void release() {
        List.copyOf(nodes.values()).forEach(this::deregister);
        root = null;
    }

    @Override
    public boolean recover() {
        DirectoryNode top = root;
        if (top == null || !inotify.isSameDirectory(watch.path(), top.descriptor)) {
            return false;
        }
        for (DirectoryNode node : incomplete) {
            node.isUnlisted = false;
            Set<Path> _ = node.pollMissing();
        }
        incomplete.clear();
        // Events that would expire the scans were skipped.
        nodes.values().forEach(DirectoryNode::clearScan);
        verification.clear();
        inconsistent = false;
        Set<DirectoryNode> found = scan(top, Purpose.RECOVERY);
        for (DirectoryNode node : List.copyOf(nodes.values())) {
            if (!found.contains(node)) {
                detach(node);
                deregister(node);
            }
        }
        return true;
    }

    @Override
    public boolean verify(boolean isLastAttempt) {
        incomplete.removeIf(node -> node.expireMissing(inotify.reads));
        Verdict verdict = inconsistent ? Verdict.INCONSISTENT : verification.verify();
        if (verdict == Verdict.CONSISTENT) {
            return inotify.scanned.isEmpty();
        }
        if (verdict == Verdict.INCONSISTENT || isLastAttempt) {
            watch.recover();
        }
        return false;
    }

    void report(Kind kind, Path changed) {
        if (!inconsistent) {
            watch.report(kind, changed);
        }
    }

    /// Watches a new directory and reports its entries.
    void addSubtree(DirectoryNode parent, Path name) {
        DirectoryNode node = addDirectory(parent, name, Purpose.ADDITION);
        if (node != null) {
            scan(node, Purpose.ADDITION);
        }
    }

    void move(DirectoryNode from, Path name, DirectoryNode to, Path newName, boolean isDirectory) {
        DirectoryNode moved = from.children.get(name);
        DirectoryNode replaced = to.children.get(newName);
        if (!isDirectory) {
            // A known directory under either name is newer than this event.
            inconsistent |= moved != null || replaced != null;
            return;
        }
        verification.expectEntry(to, newName);
        if (replaced != null) {
            verification.expectEntry(from, name); // They may have been exchanged.
            removeSubtree(replaced);
        }
        if (moved == null) {
            addSubtree(to, newName); // It was missing when it should have been watched.
        } else if (to.isWithin(moved) || to.descriptor == InotifyInstance.UNWATCHED) {
            inconsistent = true; // Impossible for a directory: it was another one.
        } else {
            attach(moved, to, newName);
            invalidateScans(moved);
            retryMissing(moved);
        }
    }

    /// Questions recent scans below a directory that moved, perhaps before the scan. A scan starts
    /// and ends with the right directory at its path. So if another one was there in between, at
    /// least two moves are reported.
    private void invalidateScans(DirectoryNode moved) {
        for (DirectoryNode node : inotify.scanned) {
            DirectoryNode parent = node.parent;
            if (node.watch() == watch
                    && parent != null
                    && node.descriptor != InotifyInstance.UNWATCHED
                    && node.isWithin(moved)) {
                inconsistent |= ++node.movesSinceScan > 1;
                verification.expectEntry(parent, node.name);
            }
        }
    }

    /// Reports the entry of that name if it still exists, because two entries were exchanged.
    void checkExchanged(DirectoryNode node, Path name) {
        markScanned(node);
        if (!verification.isAtItsPath(node)) {
            verification.expectRemoval(node);
            return;
        }
        Path path = node.path().resolve(name);
        boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        boolean isDirectory = Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
        if (!verification.isAtItsPath(node)) {
            verification.expectRemoval(node);
        } else if (exists) {
            node.onMovedIn(name, isDirectory);
        }
    }

    private void markScanned(DirectoryNode node) {
        node.scannedAtRead = inotify.reads;
        inotify.scanned.add(node);
    }

    private void retryMissing(DirectoryNode moved) {
        for (DirectoryNode node : List.copyOf(incomplete)) {
            if (!node.isWithin(moved)) {
                continue;
            }
            incomplete.remove(node);
            if (node.isUnlisted) {
                node.isUnlisted = false;
                scan(node, Purpose.ADDITION);
            }
            for (Path name : node.pollMissing()) {
                addSubtree(node, name);
            }
        }
    }

    void removeSubtree(DirectoryNode node) {
        detach(node);
        Deque<DirectoryNode> left = new ArrayDeque<>();
        left.add(node);
        for (DirectoryNode each = left.poll(); each != null; each = left.poll()) {
            left.addAll(each.children.values());
            each.children.clear();
            deregister(each);
        }
    }

    /// The kernel has removed the watch of a directory.
    void onUnwatched(DirectoryNode node) {
        nodes.remove(node.descriptor);
        incomplete.remove(node);
        verification.onRemoved(node);
        node.descriptor = InotifyInstance.UNWATCHED;
    }

    private void register(DirectoryNode node) {
        nodes.put(node.descriptor, node);
        inotify.listen(node.descriptor, node);
    }

    private void deregister(DirectoryNode node) {
        incomplete.remove(node);
        verification.onRemoved(node);
        if (node.descriptor != InotifyInstance.UNWATCHED) {
            nodes.remove(node.descriptor);
            inotify.unlisten(node.descriptor, node);
            node.descriptor = InotifyInstance.UNWATCHED;
        }
    }

    private static void attach(DirectoryNode node, DirectoryNode parent, Path name) {
        detach(node);
        node.parent = parent;
        node.name = name;
        parent.children.put(name, node);
    }

    private static void detach(DirectoryNode node) {
        DirectoryNode parent = node.parent;
        if (parent != null) {
            boolean _ = parent.children.remove(node.name, node);
        }
    }

    /// Watches the entry of that name if it is a directory.
    private @Nullable DirectoryNode addDirectory(DirectoryNode parent, Path name, Purpose purpose) {
        Path path = parent.path().resolve(name);
        int descriptor = inotify.watch(path, IN_DONT_FOLLOW);
        if (descriptor < 0) {
            if (InotifyInstance.isMissing(-descriptor)) {
                parent.addMissing(name, inotify.reads);
                incomplete.add(parent);
            } else {
                onRefusal(path, -descriptor, purpose);
            }
            return null;
        }
        DirectoryNode known = nodes.get(descriptor);
        DirectoryNode there = parent.children.get(name);
        if (known != null && known == there) {
            known.foundInScan = scans;
            return known;
        }
        if (known != null && purpose == Purpose.ADDITION) {
            inconsistent = true; // It was moved here, and the event is still unread.
            return null;
        }
        if (known != null && parent.isWithin(known)) {
            return null; // Mounted into itself: an endless path.
        }
        if (known != null) {
            // One of the two places was wrong, and its listing may be empty.
            inconsistent |= known.foundInScan == scans;
            detach(known); // First: it may be below the directory that it replaces.
        }
        if (there != null) {
            removeSubtree(there);
        }
        DirectoryNode node =
                known == null ? new DirectoryNode(this, parent, name, descriptor) : known;
        node.foundInScan = scans;
        attach(node, parent, name);
        if (known == null) {
            register(node);
        }
        return node;
    }

    /// Lists a directory and everything below it, and watches all directories that it finds.
    private Set<DirectoryNode> scan(DirectoryNode start, Purpose purpose) {
        scans++;
        Set<DirectoryNode> found = new HashSet<>();
        Deque<DirectoryNode> left = new ArrayDeque<>();
        left.add(start);
        for (DirectoryNode node = left.poll(); node != null; node = left.poll()) {
            if (node.descriptor != InotifyInstance.UNWATCHED && found.add(node)) {
                left.addAll(list(node, purpose));
            }
        }
        return found;
    }

    /// Returns the subdirectories.
    private List<DirectoryNode> list(DirectoryNode node, Purpose purpose) {
        List<DirectoryNode> directories = new ArrayList<>();
        Path path = node.path();
        markScanned(node);
        boolean opened = false;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            opened = true;
            for (Path entry : entries) {
                Path name = entry.getFileName();
                if (purpose == Purpose.ADDITION && node.markReported(name)) {
                    report(Kind.CREATED, entry);
                }
                if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)
                        || Files.notExists(entry, LinkOption.NOFOLLOW_LINKS)) {
                    DirectoryNode child = addDirectory(node, name, purpose);
                    if (child != null) {
                        directories.add(child);
                    }
                }
            }
        } catch (IOException e) {
            onRefusal(node, path, e, purpose);
        } catch (DirectoryIteratorException e) {
            onRefusal(node, path, Objects.requireNonNull(e.getCause()), purpose);
        }
        int found = verification.probe(node);
        if (found >= 0 && found != node.descriptor) {
            inconsistent = true; // The other directory may have been listed.
        } else if (found < 0 && InotifyInstance.isMissing(-found) && opened) {
            // The same, and the other one has moved on. New entries matter only if the node stays.
            if (purpose == Purpose.ADDITION) {
                verification.expectRemoval(node);
            } else {
                inconsistent = true;
            }
        }
        return directories;
    }

    private void onRefusal(Path path, int errno, Purpose purpose) {
        SystemCallException refusal = inotify.refusal(path, errno);
        if (purpose == Purpose.OPENING && refusal.kind() == SystemCallException.Kind.RESOURCE) {
            throw refusal;
        }
        reportUnwatched(path, refusal);
    }

    private void onRefusal(DirectoryNode node, Path path, IOException refusal, Purpose purpose) {
        if (refusal instanceof NoSuchFileException || refusal instanceof NotDirectoryException) {
            node.missedAtRead = inotify.reads;
            node.isUnlisted = true;
            incomplete.add(node);
            return;
        }
        if (purpose == Purpose.OPENING && !(refusal instanceof AccessDeniedException)) {
            throw new UncheckedIOException(refusal);
        }
        reportUnwatched(path, refusal);
    }

    private void reportUnwatched(Path path, Exception reason) {
        LOG.log(Level.WARNING, "Cannot watch {0}: {1}", path, reason.getMessage());
        report(Kind.OVERFLOW, path);
    }
}
