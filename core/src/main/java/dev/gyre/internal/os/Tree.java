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

/// A directory and all directories below it, each with a watch of its own.
///
/// A new directory is known by the event of its creation, and by then there may be something in it
/// that no watch has seen. So it is watched first and then listed. What the list shows is reported
/// at once; its event, if there is one, comes later and is passed over ([TreeNode#reports]).
///
/// Events are history, while the file system shows the present. A path that an event names may
/// lead nowhere by now, because the directory is gone, or because one above it has another name:
/// the entry is *missing* until another event says which, and is looked for again when a directory
/// above it moves. Or the path may lead to another directory. The kernel says which it is, for a
/// directory that is watched already gives the same watch again. If that one is somewhere else in
/// our tree, or an event says what cannot be, then what was reported was not how it happened: the
/// tree is *in doubt*. It passes over all events that there are, and when none is left it looks at
/// everything anew and reports one OVERFLOW. The same if a directory that was moved is not where
/// the events have led it, or if it may have been another one that we looked into ([TreeVerification]).
///
/// Loop thread only.
final class Tree implements Scope {
    /// Why directories are looked at.
    private enum Purpose {
        /// Nothing is reported, and what cannot be watched is thrown.
        OPENING,
        /// All that is found is new.
        TAKING_IN,
        /// The user looks for himself.
        RECOVERY
    }

    final OpenFileWatch watch;
    private final InotifyInstance notifications;
    private final Map<Integer, TreeNode> nodes = new HashMap<>();
    private @Nullable TreeNode root;

    private final TreeVerification proof;
    private boolean inDoubt;
    private long scans;

    /// Those with something below them that was not there when it was to be watched.
    private final Set<TreeNode> incomplete = new HashSet<>();

    Tree(OpenFileWatch watch, InotifyInstance notifications) {
        this.watch = watch;
        this.notifications = notifications;
        proof = new TreeVerification(notifications);
    }

    @Override
    public void open() {
        int descriptor = notifications.requireWatch(watch.path());
        TreeNode top = new TreeNode(this, null, watch.path(), descriptor);
        root = top;
        enter(top);
        scan(top, Purpose.OPENING);
    }

    @Override
    public void release() {
        for (TreeNode node : List.copyOf(nodes.values())) {
            leave(node);
        }
        root = null;
    }

    @Override
    public boolean recover() {
        TreeNode top = root;
        if (top == null || !notifications.isStill(watch.path(), top.descriptor)) {
            return false;
        }
        for (TreeNode node : incomplete) {
            node.isUnlisted = false;
            Set<Path> _ = node.takeMissing();
        }
        incomplete.clear();
        for (TreeNode node : nodes.values()) {
            node.forgetLooks(); // Events that would have told of their end were passed over.
        }
        proof.clear();
        inDoubt = false;
        Set<TreeNode> found = scan(top, Purpose.RECOVERY);
        for (TreeNode node : List.copyOf(nodes.values())) {
            if (!found.contains(node)) {
                detach(node);
                leave(node);
            }
        }
        return true;
    }

    @Override
    public boolean settle(boolean isLastLook) {
        incomplete.removeIf(node -> node.forgetMissing(notifications.reads()));
        Verdict verdict = inDoubt ? Verdict.REFUTED : proof.verdict();
        if (verdict == Verdict.PROVEN) {
            return notifications.scanned().isEmpty();
        }
        if (verdict == Verdict.REFUTED || isLastLook) {
            watch.recover();
        }
        return false;
    }

    boolean isInDoubt() {
        return inDoubt;
    }

    void tell(Kind kind, Path changed) {
        if (!inDoubt) {
            watch.tell(kind, changed);
        }
    }

    // ------------------------------------------------------------------ changes of the tree

    /// A directory has come: watches it and reports what is in it.
    void takeInWhole(TreeNode parent, Path name) {
        TreeNode node = takeIn(parent, name, Purpose.TAKING_IN);
        if (node != null) {
            scan(node, Purpose.TAKING_IN);
        }
    }

    void move(TreeNode from, Path name, TreeNode to, Path newName, boolean isDirectory) {
        TreeNode moved = from.children.get(name);
        TreeNode replaced = to.children.get(newName);
        if (!isDirectory) {
            // A directory that we know under either name came later than this.
            inDoubt |= moved != null || replaced != null;
            return;
        }
        proof.needsPlace(to, newName);
        if (replaced != null) {
            proof.needsPlace(from, name); // Perhaps they were exchanged.
            forget(replaced);
        }
        if (moved == null) {
            takeInWhole(to, newName); // It was gone when we wanted to watch it.
        } else if (to.isWithin(moved) || to.descriptor == InotifyInstance.UNWATCHED) {
            inDoubt = true; // Not a thing that happens to directories: it was another one.
        } else {
            attach(moved, to, newName);
            questionLooks(moved);
            complete(moved);
        }
    }

    /// What was looked at a moment ago in a directory that has moved, perhaps before we looked. A
    /// look begins and ends with the right directory at its path; so if another one was there
    /// meanwhile, two moves or more tell of it.
    private void questionLooks(TreeNode moved) {
        for (TreeNode node : notifications.scanned()) {
            TreeNode parent = node.parent;
            if (node.watch() == watch
                    && parent != null
                    && node.descriptor != InotifyInstance.UNWATCHED
                    && node.isWithin(moved)) {
                inDoubt |= node.countMove() > 1;
                proof.needsPlace(parent, node.name);
            }
        }
    }

    /// Two entries may have been exchanged; then there is one of that name still.
    void lookFor(TreeNode node, Path name) {
        noteLook(node);
        if (!proof.isInPlace(node)) {
            proof.needsEndOf(node);
            return;
        }
        Path path = node.path().resolve(name);
        boolean exists = Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        boolean isDirectory = Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
        if (!proof.isInPlace(node)) {
            proof.needsEndOf(node);
        } else if (exists) {
            node.onMovedIn(name, isDirectory);
        }
    }

    private void noteLook(TreeNode node) {
        node.scannedAt(notifications.reads());
        notifications.hasScanned(node);
    }

    /// Looks again for what was missing in a directory that has moved.
    private void complete(TreeNode moved) {
        for (TreeNode node : List.copyOf(incomplete)) {
            if (!node.isWithin(moved)) {
                continue;
            }
            incomplete.remove(node);
            if (node.isUnlisted) {
                node.isUnlisted = false;
                scan(node, Purpose.TAKING_IN);
            }
            for (Path name : node.takeMissing()) {
                takeInWhole(node, name);
            }
        }
    }

    /// The directory is no longer part of the tree, nor is anything below it.
    void forget(TreeNode node) {
        detach(node);
        Deque<TreeNode> left = new ArrayDeque<>();
        left.add(node);
        for (TreeNode each = left.poll(); each != null; each = left.poll()) {
            left.addAll(each.children.values());
            each.children.clear();
            leave(each);
        }
    }

    /// The kernel has dropped its watch.
    void isUnwatched(TreeNode node) {
        nodes.remove(node.descriptor);
        incomplete.remove(node);
        proof.isGone(node);
        node.descriptor = InotifyInstance.UNWATCHED;
    }

    private void enter(TreeNode node) {
        nodes.put(node.descriptor, node);
        notifications.listen(node.descriptor, node);
    }

    private void leave(TreeNode node) {
        incomplete.remove(node);
        proof.isGone(node);
        if (node.descriptor != InotifyInstance.UNWATCHED) {
            nodes.remove(node.descriptor);
            notifications.unlisten(node.descriptor, node);
            node.descriptor = InotifyInstance.UNWATCHED;
        }
    }

    private static void attach(TreeNode node, TreeNode parent, Path name) {
        detach(node);
        node.parent = parent;
        node.name = name;
        parent.children.put(name, node);
    }

    private static void detach(TreeNode node) {
        TreeNode parent = node.parent;
        if (parent != null) {
            boolean _ = parent.children.remove(node.name, node);
        }
    }

    // ------------------------------------------------------------------ looking

    /// Watches what is there under that name, if it is a directory.
    private @Nullable TreeNode takeIn(TreeNode parent, Path name, Purpose purpose) {
        Path path = parent.path().resolve(name);
        int descriptor = notifications.watch(path, IN_DONT_FOLLOW);
        if (descriptor < 0) {
            if (InotifyInstance.isAbsence(-descriptor)) {
                parent.misses(name, notifications.reads());
                incomplete.add(parent);
            } else {
                onRefusal(path, -descriptor, purpose);
            }
            return null;
        }
        TreeNode known = nodes.get(descriptor);
        TreeNode there = parent.children.get(name);
        if (known != null && known == there) {
            known.foundInScan = scans;
            return known;
        }
        if (known != null && purpose == Purpose.TAKING_IN) {
            inDoubt = true; // It was moved here, and we are still to hear of it.
            return null;
        }
        if (known != null && parent.isWithin(known)) {
            return null; // Mounted into itself: there is no end to that.
        }
        if (known != null) {
            // In one of the places we were misled, and may have listed nothing.
            inDoubt |= known.foundInScan == scans;
            detach(known); // First: it may be below the one whose place it has taken.
        }
        if (there != null) {
            forget(there);
        }
        TreeNode node = known == null ? new TreeNode(this, parent, name, descriptor) : known;
        node.foundInScan = scans;
        attach(node, parent, name);
        if (known == null) {
            enter(node);
        }
        return node;
    }

    /// Looks at a directory and everything below it, and watches all directories that it finds.
    ///
    /// @return the directories
    private Set<TreeNode> scan(TreeNode start, Purpose purpose) {
        scans++;
        Set<TreeNode> found = new HashSet<>();
        Deque<TreeNode> left = new ArrayDeque<>();
        left.add(start);
        for (TreeNode node = left.poll(); node != null; node = left.poll()) {
            if (node.descriptor != InotifyInstance.UNWATCHED && found.add(node)) {
                left.addAll(list(node, purpose));
            }
        }
        return found;
    }

    /// @return the directories in it
    private List<TreeNode> list(TreeNode node, Purpose purpose) {
        List<TreeNode> directories = new ArrayList<>();
        Path path = node.path();
        noteLook(node);
        boolean opened = false;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            opened = true;
            for (Path entry : entries) {
                Path name = entry.getFileName();
                if (purpose == Purpose.TAKING_IN && node.reports(name)) {
                    tell(Kind.CREATED, entry);
                }
                if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)
                        || Files.notExists(entry, LinkOption.NOFOLLOW_LINKS)) {
                    TreeNode child = takeIn(node, name, purpose);
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
        int found = proof.whatIsAt(node);
        if (found >= 0 && found != node.descriptor) {
            inDoubt = true; // Perhaps it was already the other one that was listed.
        } else if (found < 0 && InotifyInstance.isAbsence(-found) && opened) {
            // The same, and that one has gone on. What is new in it matters only if it lasts.
            if (purpose == Purpose.TAKING_IN) {
                proof.needsEndOf(node);
            } else {
                inDoubt = true;
            }
        }
        return directories;
    }

    private void onRefusal(Path path, int errno, Purpose purpose) {
        SystemCallException refusal = notifications.refusal(path, errno);
        if (purpose == Purpose.OPENING && refusal.kind() == SystemCallException.Kind.RESOURCE) {
            throw refusal;
        }
        isUnseen(path, refusal);
    }

    private void onRefusal(TreeNode node, Path path, IOException refusal, Purpose purpose) {
        if (refusal instanceof NoSuchFileException || refusal instanceof NotDirectoryException) {
            node.missesAll(notifications.reads());
            incomplete.add(node);
            return;
        }
        if (purpose == Purpose.OPENING && !(refusal instanceof AccessDeniedException)) {
            throw new UncheckedIOException(refusal);
        }
        isUnseen(path, refusal);
    }

    private void isUnseen(Path path, Exception reason) {
        LOG.log(Level.WARNING, "{0} is not watched: {1}", path, reason.getMessage());
        tell(Kind.OVERFLOW, path);
    }
}
