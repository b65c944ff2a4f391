package dev.gyre.internal.io;

import dev.gyre.io.Descriptor;

import java.util.HashMap;
import java.util.Map;

/// Descriptors of a scripted kernel: numbers that no real kernel knows. Keeps them, since watchers do not.
public final class FakeDescriptors {
    private final Map<Integer, Descriptor> all = new HashMap<>();

    /// The one of that number, always the same until [#reopen].
    public Descriptor get(int fd) {
        return all.computeIfAbsent(fd, FakeDescriptors::fresh);
    }

    /// Another one of the same number, as if it had been closed and opened again.
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
