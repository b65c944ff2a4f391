package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_CREATE;
import static dev.gyre.internal.sys.Linux.IN_DELETE;
import static dev.gyre.internal.sys.Linux.IN_MODIFY;

import dev.gyre.os.FileChange.Kind;

import org.jspecify.annotations.Nullable;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// Watches the entries of one directory, or a single entry.
///
/// Loop thread only.
final class DirectoryScope implements OpenFileWatch.Scope, DirectoryListener {
    private final OpenFileWatch watch;
    private final InotifyInstance inotify;
    private final Path directory;

    /// The single entry to report; `null` for all of them.
    private final @Nullable Path only;

    private int descriptor = InotifyInstance.UNWATCHED;

    DirectoryScope(
            OpenFileWatch watch, InotifyInstance inotify, Path directory, @Nullable Path only) {
        this.watch = watch;
        this.inotify = inotify;
        this.directory = directory;
        this.only = only;
    }

    @Override
    public void open() {
        descriptor = inotify.requireWatch(directory);
        inotify.listen(descriptor, this);
    }

    @Override
    public void release() {
        inotify.unlisten(descriptor, this);
        descriptor = InotifyInstance.UNWATCHED;
    }

    @Override
    public boolean recover() {
        return inotify.isSameDirectory(directory, descriptor);
    }

    @Override
    public boolean verify(boolean isLastAttempt) {
        return true;
    }

    @Override
    public OpenFileWatch watch() {
        return watch;
    }

    @Override
    public void onEntry(int mask, Path name) {
        report(kindOf(mask), name);
    }

    static Kind kindOf(int mask) {
        if ((mask & IN_CREATE) != 0) {
            return Kind.CREATED;
        }
        if ((mask & IN_DELETE) != 0) {
            return Kind.DELETED;
        }
        return (mask & IN_MODIFY) != 0 ? Kind.MODIFIED : Kind.WRITTEN;
    }

    @Override
    public void onMoved(Path name, DirectoryListener target, Path newName, boolean isDirectory) {
        if (only == null) {
            watch.reportMoved(directory.resolve(name), directory.resolve(newName));
        } else {
            onMovedAway(name);
            onMovedIn(newName, isDirectory);
        }
    }

    @Override
    public void onMovedAway(Path name) {
        report(Kind.DELETED, name);
    }

    @Override
    public void onMovedIn(Path name, boolean isDirectory) {
        report(Kind.CREATED, name);
    }

    @Override
    public void onPossibleExchange(Path name) {
        if (Files.exists(directory.resolve(name), LinkOption.NOFOLLOW_LINKS)) {
            report(Kind.CREATED, name);
        }
    }

    @Override
    public void onSelf(int mask) {
        watch.endWith(Kind.DELETED);
    }

    private void report(Kind kind, Path name) {
        if (only == null) {
            watch.report(kind, directory.resolve(name));
        } else if (only.equals(name)) {
            watch.report(kind, watch.path());
        }
    }
}
