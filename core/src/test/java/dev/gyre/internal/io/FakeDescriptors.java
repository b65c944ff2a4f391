package dev.gyre.internal.io;

import dev.gyre.io.Descriptor;

import java.util.HashMap;
import java.util.Map;

/// Descriptors of a scripted kernel. Keeps them reachable, because watchers do not.
public final class FakeDescriptors {
    private final Map<Integer, Descriptor> all = new HashMap<>();

    /// Returns the descriptor of an fd, the same until [#reopen].
    public Descriptor get(int fd) {
        return all.computeIfAbsent(fd, FakeDescriptors::fresh);
    }

    /// Returns a new descriptor of the fd, as if it was closed and reopened.
    public Descriptor reopen(int fd) {
        Descriptor descriptor = fresh(fd);
        all.put(fd, descriptor);
        return descriptor;
    }

    private static Descriptor fresh(int fd) {
        return OpenDescriptor.fresh(
                () -> {
                    throw new AssertionError("no kernel knows descriptor " + fd);
                },
                fd,
                false);
    }
}
