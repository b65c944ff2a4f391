package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.OpenFileWatch;

import java.nio.file.Path;
import java.util.function.Consumer;

/// Reports changes of files, from [#on] or [#tree] until it is closed or its target is removed.
///
/// ```java
/// FileWatch.on(loop, Path.of("config"), change -> reload());
/// FileWatch.tree(loop, Path.of("src"), change -> IO.println(change));
/// ```
///
/// Existing entries are not reported. To track a directory completely, open the watch first and
/// list the directory afterwards.
///
/// **Threads.** All methods are loop-confined. Each change is a callback of its own on the loop
/// thread, followed by microtasks. The loop's failure policy handles its exceptions, and no other
/// change is lost. Opening a watch and adding new directories read directories on the loop thread.
///
/// **Order.** Changes are reported in the order in which they happened, also across the watches of
/// a loop. A move within one watch is one [FileChange.Kind#MOVED]. Linux reports the two ends of a
/// move separately. They become DELETED and CREATED if the second end is more than 10 ms late, or
/// other events separate the two. In a tree so do moves right after an OVERFLOW, since a rescan may
/// have seen them already. An exchange of two entries (`renameat2`) is reported as two moves there
/// and back, followed by CREATED for the entry at the second path.
///
/// **End.** If the watched directory (for a file: its parent) is deleted, moved or unmounted, the
/// watch reports [FileChange.Kind#DELETED] with its own path and closes: inside that callback
/// [#isOpen()] is false. A move of a directory further up is not noticed. Linux reports a deletion
/// once no process holds the directory. While a process has the deleted directory open or as its
/// working directory, the watch stays open and silent, even if a new directory has the name.
///
/// **Limits.** At most 65,536 changes are pending. Beyond that, or if the kernel's own queue is
/// full (`fs.inotify.max_queued_events`), changes are dropped and reported as one
/// [FileChange.Kind#OVERFLOW] with the watch's own path. All watches of a loop share one inotify
/// instance (`fs.inotify.max_user_instances`), and each directory counts against
/// `fs.inotify.max_user_watches`.
///
/// Changes that other machines make on a network file system are not noticed, nor are those made
/// through mappings (`mmap`) or in pseudo file systems such as `/proc`.
public sealed interface FileWatch extends AutoCloseable permits OpenFileWatch {

    /// Watches the entries of a directory, not those of its subdirectories. If the path is not a
    /// directory now, watches the entry of that name, whether or not it exists, and whichever file
    /// has the name: a file renamed over it is CREATED, one renamed away (as by log rotation) is
    /// DELETED.
    ///
    /// A symbolic link to a directory is followed. A link to anything else is watched as an entry
    /// itself; changes of its target are not reported.
    ///
    /// @throws SystemCallException if the directory (for a file: its parent) does not exist
    ///     (ENOENT) or is not readable (EACCES), or a limit is reached (EMFILE, ENOSPC); nothing is
    ///     leaked
    /// @throws IllegalArgumentException if the path is not of the default file system
    static FileWatch on(EventLoop loop, Path path, Consumer<? super FileChange> callback) {
        return OpenFileWatch.on(loop, path, callback);
    }

    /// Watches a directory and everything below it, including directories created later. Symbolic
    /// links below it are not followed.
    ///
    /// A directory that is created or moved in is reported as CREATED, followed by its existing
    /// entries: no entry is missed, however fast the directory is filled. An entry that is *moved*
    /// into a directory while the watch adds that directory may be reported twice. An entry that is
    /// deleted before the watch has read it may be reported only as DELETED.
    ///
    /// If directories are moved, or exchange their names, faster than their events are read, the
    /// history may be ambiguous. Then the watch stops reporting, and once no event is left it
    /// reports an OVERFLOW of its own path. A caller that applies all changes, and rescans at each
    /// OVERFLOW, ends up with the actual state.
    ///
    /// A directory below that is not readable, or exceeds a limit while the watch is open, is
    /// reported as OVERFLOW with its path, logged, and not watched. One that vanished meanwhile is
    /// skipped. After an OVERFLOW of its own path the watch is complete again.
    ///
    /// @throws SystemCallException if the path is not a directory (ENOENT, ENOTDIR) or not readable
    ///     (EACCES), or a limit is reached (EMFILE, ENOSPC), also by a directory below; nothing is
    ///     leaked
    /// @throws java.io.UncheckedIOException if a directory below cannot be listed for another
    ///     reason than its permissions; nothing is leaked
    /// @throws IllegalArgumentException if the path is not of the default file system
    static FileWatch tree(EventLoop loop, Path directory, Consumer<? super FileChange> callback) {
        return OpenFileWatch.tree(loop, directory, callback);
    }

    /// Returns the path passed to [#on] or [#tree].
    Path path();

    /// Returns whether changes may still be reported.
    boolean isOpen();

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although this watch is open.
    ///
    /// @return this watch
    FileWatch unreference();

    /// Reverts [#unreference()].
    ///
    /// @return this watch
    FileWatch reference();

    /// Closes the watch: its callback does not run again, not even for a change that has happened
    /// already. Idempotent. The loop closes it when it terminates.
    @Override
    void close();
}
