package dev.gyre.internal.sys;

/// The seam of file watching, like [PollSyscalls] for everything else: results are the value or
/// `-errno`, and one instance serves one thread at a time.
public interface Inotify {
    int init1(int flags);

    /// Paths are bytes, as the kernel sees them: a name need not be text in any encoding.
    ///
    /// @param path without a NUL; `-ENAMETOOLONG` from [Linux#PATH_MAX] bytes on
    /// @return the watch, the same one as before if that directory is watched already
    int addWatch(int fd, byte[] path, int mask);

    int rmWatch(int fd, int watch);
}
