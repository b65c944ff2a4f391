package dev.gyre.internal.sys;

/// The seam for starting, watching and signalling processes. Results and threads are as in
/// [PollSyscalls]: the value or `-errno`, one thread at a time, raw addresses that the caller keeps
/// alive.
public interface ProcessCalls {
    int fileActionsInit(long actions);

    int fileActionsDestroy(long actions);

    int fileActionsAddOpen(long actions, int fd, long path, int flags, int mode);

    int fileActionsAddDup2(long actions, int fd, int newFd);

    int fileActionsAddClose(long actions, int fd);

    /// `-ENOSYS` where libc has no such call.
    int fileActionsAddCloseFrom(long actions, int lowest);

    /// `-ENOSYS` where libc has no such call.
    int fileActionsAddChdir(long actions, long path);

    int attributesInit(long attributes);

    int attributesDestroy(long attributes);

    int attributesSetFlags(long attributes, int flags);

    int attributesSetSignalMask(long attributes, long signals);

    int attributesSetSignalDefault(long attributes, long signals);

    int attributesSetGroup(long attributes, int group);

    /// `posix_spawnp`.
    ///
    /// @return the process id
    int spawn(long file, long actions, long attributes, long arguments, long environment);

    int pidfdOpen(int pid, int flags);

    int pidfdSendSignal(int pidfd, int signal, int flags);

    int waitid(int idType, int id, long info, int options);

    int kill(int pid, int signal);
}
