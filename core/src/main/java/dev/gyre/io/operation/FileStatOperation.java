package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopFileStat;

import java.time.Instant;

/// Looks at a file.
public sealed interface FileStatOperation extends Operation permits LoopFileStat {
    /// What it found.
    ///
    /// @throws IllegalStateException if it failed
    Status status();

    /// What is known of a file.
    ///
    /// @param size in bytes
    /// @param mode type and permissions, as the system has them
    /// @param inode its number in its file system
    /// @param modified when its content last changed
    record Status(long size, int mode, long inode, Instant modified) {
        /// Whether it is an ordinary file.
        public boolean isRegularFile() {
            return (mode & 0xF000) == 0x8000;
        }

        /// Whether it is a directory.
        public boolean isDirectory() {
            return (mode & 0xF000) == 0x4000;
        }
    }
}
