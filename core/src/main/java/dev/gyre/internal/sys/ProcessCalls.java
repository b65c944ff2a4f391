package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The system calls that start, watch and signal processes. Results, threads and addresses are as
/// in [PollCalls].
public interface ProcessCalls {
    int fileActionsInit(long actions);

    int fileActionsDestroy(long actions);

    int fileActionsAddOpen(long actions, int fd, long path, int flags, int mode);

    int fileActionsAddDup2(long actions, int fd, int newFd);

    int fileActionsAddClose(long actions, int fd);

    /// Returns `-ENOSYS` if libc lacks the call.
    int fileActionsAddCloseFrom(long actions, int lowest);

    /// Returns `-ENOSYS` if libc lacks the call.
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

    /// The zeroed `siginfo_t` that `waitid` fills in; with `WNOHANG` it may leave it unchanged.
    final class WaitResult {
        private final MemorySegment memory = Memory.allocate(Linux.SIZEOF_SIGINFO);

        public long address() {
            return memory.address();
        }

        /// Returns the exited process; 0 if none exited.
        public int pid() {
            return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_SIGINFO_PID);
        }

        /// Returns `CLD_EXITED`, `CLD_KILLED` or `CLD_DUMPED`.
        public int code() {
            return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_SIGINFO_CODE);
        }

        /// Returns the exit status or the number of the signal.
        public int status() {
            return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_SIGINFO_STATUS);
        }
    }

    /// The zeroed structures of `posix_spawn`. Their sizes are private to libc and may change:
    /// today they are 80, 336 and 128 bytes in glibc and musl. Each gets more than any of them
    /// needs.
    final class SpawnStructs {
        private static final int STRUCT_BYTES = 1024;

        private final MemorySegment memory = Memory.allocate(3 * STRUCT_BYTES);

        /// Returns the address of the `posix_spawn_file_actions_t`.
        public long actions() {
            return memory.address();
        }

        /// Returns the address of the `posix_spawnattr_t`.
        public long attributes() {
            return memory.address() + STRUCT_BYTES;
        }

        /// Returns the address of the `sigset_t`, initially empty.
        public long signals() {
            return memory.address() + 2 * STRUCT_BYTES;
        }

        /// Adds a standard signal to the set.
        public void addSignal(int number) {
            Memory.putLong(signals(), Memory.getLong(signals()) | 1L << (number - 1));
        }
    }
}
