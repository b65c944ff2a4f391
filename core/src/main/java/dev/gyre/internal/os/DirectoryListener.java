package dev.gyre.internal.os;

import java.nio.file.Path;

/// What events of one directory mean to one watch. Calls no user code.
interface DirectoryListener {
    /// Whose it is: a watch has at most one listener in a directory.
    OpenFileWatch watch();

    /// Something happened to an entry.
    ///
    /// @param mask IN_CREATE, IN_DELETE, IN_MODIFY or IN_CLOSE_WRITE, with IN_ISDIR
    void onEntry(int mask, Path name);

    /// An entry was moved within the watch.
    ///
    /// @param target the listener of the same watch in the directory moved to
    void onMoved(Path name, DirectoryListener target, Path newName, boolean isDirectory);

    void onMovedAway(Path name);

    void onMovedIn(Path name, boolean isDirectory);

    /// An entry left right after another came to its name. If two entries were exchanged, which
    /// the kernel tells as two moves, one of them has that name now.
    void onPossibleExchange(Path name);

    /// Something happened to the directory itself.
    ///
    /// @param mask IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT or IN_IGNORED
    void onSelf(int mask);
}
