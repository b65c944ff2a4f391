package dev.gyre.os;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.os.OpenFileWatch;

import java.nio.file.Path;
import java.util.function.Consumer;

/// Tells of changes of files, from [#on] or [#tree] until it is closed or what it watches is gone.
///
/// ```java
/// FileWatch.on(loop, Path.of("config"), change -> reload());
/// FileWatch.tree(loop, Path.of("src"), change -> IO.println(change));
/// ```
///
/// What is there already is not reported. To know what is there and what becomes of it, watch
/// first and look then.
///
/// **Threads.** All methods are loop-confined. Each change is a callback of its own: it runs on
/// the loop thread, microtasks run after it, and what it throws is handled by the loop's failure
/// policy and costs no other change. Watching and the taking in of new directories read
/// directories on the loop thread.
///
/// **Order.** Changes come in the order in which they happened, also across the watches of a loop.
/// An entry that moves within what one watch watches is one [FileChange.Kind#MOVED]. Linux tells
/// of the two ends of a move separately; when the second one keeps us waiting for more than 10 ms,
/// or something else comes between, they are told as DELETED and CREATED; in a tree so are moves
/// right after an OVERFLOW, which whoever looked may have seen already. An exchange of two entries
/// (`renameat2`) is told as two moves there and back, and what is at the second path then as
/// CREATED.
///
/// **The end.** When the watched directory itself (for a file: the one it is in) is deleted, moved
/// or unmounted, the watch reports [FileChange.Kind#DELETED] with its own path and is over: inside
/// that callback [#isOpen()] is false. A move of a directory further up is not seen. Linux tells of
/// a deletion when nobody holds the directory any more: while a process has the deleted directory
/// open, or works in it, the watch stays open and silent, also if there is a new one of that name.
///
/// **Limits.** At most 65,536 changes wait for their callbacks; if more come, as when the kernel's
/// own queue is full (`fs.inotify.max_queued_events`), they are dropped and told as one
/// [FileChange.Kind#OVERFLOW] with the watch's own path. All watches of a loop share one inotify
/// instance (`fs.inotify.max_user_instances`), and each directory costs one of
/// `fs.inotify.max_user_watches`.
///
/// Changes that other machines make on a network file system are not seen, nor are those made
/// through mappings (`mmap`) or in pseudo file systems such as `/proc`.
public sealed interface FileWatch extends AutoCloseable permits OpenFileWatch {

    /// Watches a directory: its entries, not what is below them. Or, if the path is no directory
    /// now, the entry of that name, whether or not there is one yet, and whichever file has the
    /// name: a file that is renamed over it is CREATED, one that is renamed away (as logs are
    /// rotated) is DELETED.
    ///
    /// A symbolic link to a directory stands for that directory. A link to anything else is
    /// watched as the entry it is; what happens to its target is not seen.
    ///
    /// @throws SystemCallException if there is no such directory (ENOENT, for a file: the one it
    ///     would be in), it may not be read (EACCES), or a limit is reached (EMFILE, ENOSPC);
    ///     nothing is leaked then
    /// @throws IllegalArgumentException if the path is not of the default file system
    static FileWatch on(EventLoop loop, Path path, Consumer<? super FileChange> callback) {
        return OpenFileWatch.on(loop, path, callback);
    }

    /// Watches a directory and everything below it, also in directories that come later. Symbolic
    /// links below it are not followed.
    ///
    /// A directory that is created or moved in is reported as CREATED, followed by all that is in
    /// it already: no entry is missed, however fast the directory was filled. An entry that is
    /// *moved* into a new directory in the moment it is taken in may be reported twice, and one
    /// that is gone again by then may be reported as DELETED only.
    ///
    /// Where directories are moved, or take each other's names, faster than their events are read,
    /// it cannot always be told what happened in them. Then the watch stops reporting, and when no
    /// event is left it reports an OVERFLOW of its own path. Whoever applies all changes, and looks for himself at
    /// each OVERFLOW, knows in the end what is there.
    ///
    /// A directory below that may not be read, or is one too many for a limit while the watch is
    /// open, is reported as OVERFLOW with its path, logged, and not watched; one that vanished
    /// meanwhile is passed over. After an OVERFLOW of its own path the watch has made itself
    /// complete again.
    ///
    /// @throws SystemCallException if it is no directory (ENOENT, ENOTDIR), it may not be read
    ///     (EACCES), or a limit is reached (EMFILE, ENOSPC), also by a directory below; nothing is
    ///     leaked then
    /// @throws java.io.UncheckedIOException if a directory below cannot be listed for another
    ///     reason than its permissions; nothing is leaked then
    /// @throws IllegalArgumentException if the path is not of the default file system
    static FileWatch tree(EventLoop loop, Path directory, Consumer<? super FileChange> callback) {
        return OpenFileWatch.tree(loop, directory, callback);
    }

    /// The path it was given.
    Path path();

    /// Whether changes may still be reported.
    boolean isOpen();

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although this watch is open.
    ///
    /// @return this watch
    FileWatch unreference();

    /// Takes [#unreference()] back.
    ///
    /// @return this watch
    FileWatch reference();

    /// Ends it: no callback runs any more, not even for a change that has happened already.
    /// Idempotent. The end of the loop closes it too.
    @Override
    void close();
}
