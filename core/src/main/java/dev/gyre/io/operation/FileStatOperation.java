package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopFileStatOperation;

import java.time.Instant;

/// Reads the status of a file.
public sealed interface FileStatOperation extends Operation permits LoopFileStatOperation {
    /// Returns the status that the last completion read.
    ///
    /// @throws IllegalStateException if the operation failed or has not completed
    Status status();

    /// Describes a file.
    ///
    /// @param size in bytes
    /// @param mode type and permissions, as in `st_mode`
    /// @param inode its number in the file system
    /// @param modified the time of the last change of its content
    record Status(long size, int mode, long inode, Instant modified) {
        /// Returns whether it is a regular file.
        public boolean isRegularFile() {
            return (mode & 0xF000) == 0x8000;
        }

        /// Returns whether it is a directory.
        public boolean isDirectory() {
            return (mode & 0xF000) == 0x4000;
        }
    }
}
