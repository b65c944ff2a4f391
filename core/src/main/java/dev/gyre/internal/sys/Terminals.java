package dev.gyre.internal.sys;

/// The seam for terminals, beside [PollSyscalls] and with its rules: results are zero or positive, or
/// `-errno`; one instance serves one thread at a time; the caller keeps the memory alive.
public interface Terminals {
    int tcgetattr(int fd, long termiosAddress);

    int tcsetattr(int fd, int when, long termiosAddress);

    /// Changes the settings in memory only.
    void cfmakeraw(long termiosAddress);

    /// `ioctl(TIOCGWINSZ)`.
    int windowSize(int fd, long winsizeAddress);
}
