package dev.gyre.internal.backend;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// An open regular file and its descriptor, which the kernel reports but Java does not.
public record TestFile(FileChannel channel, int fd) implements AutoCloseable {
    public static TestFile open(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path);
        try (var entries = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path entry : entries) {
                if (Files.exists(entry) && Files.isSameFile(entry, path)) {
                    return new TestFile(channel, Integer.parseInt(entry.getFileName().toString()));
                }
            }
        }
        throw new AssertionError("no descriptor of " + path);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
