package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The system calls of signals. Results, threads and addresses are as in [PollCalls].
public interface SignalCalls {
    int signalfd(int fd, long setAddress, int flags);

    /// Returns `-errno` if refused, although libc returns it without the sign.
    int pthreadSigmask(int how, long setAddress, long oldSetAddress);

    /// A `sigset_t` in native memory, in the kernel's layout: bit `n - 1` for signal `n`.
    final class SignalSet {
        private final MemorySegment memory = Memory.allocate(Linux.SIZEOF_SIGSET);

        public SignalSet(long bits) {
            Memory.putLong(memory.address(), bits);
        }

        public long address() {
            return memory.address();
        }

        public long bits() {
            return memory.get(JAVA_LONG_UNALIGNED, 0);
        }
    }
}
