package dev.gyre.conformance;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.FileOpenOperation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// A kernel to run loops on: all that the contracts ask of a backend's tests. The defaults are those of the
/// real Linux.
public interface World {
    EventLoop open(LoopConfig config);

    /// Two stream sockets, connected with each other, of the kernel that the loop is on.
    default List<Descriptor> pair(EventLoop loop) {
        return Sockets.pair(loop);
    }

    /// A regular file, open for reading.
    default Descriptor file(EventLoop loop) {
        Path path = Path.of(System.getProperty("gyre.root"), "pom.xml");
        FileOpenOperation[] opened = new FileOpenOperation[1];
        Descriptor[] file = new Descriptor[1];
        opened[0] = Operations.on(loop).open(path, done -> file[0] = done.opened());
        opened[0].start();
        loop.runUntilEmpty();
        return file[0];
    }

    /// How many descriptors are open in it. May be too many, never too few, if others use it too.
    default long descriptors() {
        return OpenDescriptors.count();
    }

    /// Lets time pass while the loop is busy: in a callback, without going back to the loop.
    default void pass(EventLoop loop, Duration duration) {
        long start = loop.nanoTime();
        while (loop.nanoTime() - start < duration.toNanos()) {
            Thread.onSpinWait();
        }
    }

    /// Whether a loop can sleep until another thread wakes it. Where time is simulated it cannot: it would
    /// sleep through all of it at once.
    default boolean sleeps() {
        return true;
    }
}
