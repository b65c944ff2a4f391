package dev.gyre.internal.sys;

/// The seam for signals, beside [PollSyscalls] and with the same rules: results are the kernel's,
/// `-errno` for refusal, one instance serves one thread at a time, addresses are raw.
public interface SignalCalls {
    int signalfd(int fd, long setAddress, int flags);

    /// Also `-errno` for refusal, although this function of libc's returns it without the sign.
    int pthreadSigmask(int how, long setAddress, long oldSetAddress);
}
