package dev.gyre.internal.io;

import static dev.gyre.internal.io.TestDescriptors.write;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Watcher;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// A loop on the real kernel, and descriptors to watch. Fails if any stays open.
abstract class WatcherFixture {
    final List<String> log = new ArrayList<>();
    final List<AutoCloseable> opened = new ArrayList<>();
    private long descriptorsBefore;
    EventLoop loop;

    @BeforeEach
    void open() {
        Pipe.open().close(); // Links the system calls.
        descriptorsBefore = OpenDescriptors.count();
        loop = EventLoop.open(LoopConfig.DEFAULT.withEventsPerWait(1_024));
        opened.add(loop);
    }

    @AfterEach
    void nothingLeaked() throws Exception {
        for (AutoCloseable resource : opened.reversed()) {
            resource.close();
        }
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(descriptorsBefore);
    }

    final Pipe pipe() {
        Pipe pipe = Pipe.open();
        opened.add(pipe);
        return pipe;
    }

    /// Opens a pipe with readable bytes.
    final Pipe readyPipe() {
        Pipe pipe = pipe();
        write(pipe.writer(), "x");
        return pipe;
    }

    final List<Descriptor> sockets() {
        List<Descriptor> sockets = TestDescriptors.sockets();
        opened.addAll(sockets);
        return sockets;
    }

    final Consumer<Watcher> says(String word) {
        return watcher -> log.add(word);
    }

    /// Runs all ready callbacks. A second poll must find no event, or the loop would spin.
    final void runReady() {
        loop.runFor(Duration.ZERO);
    }

    /// Makes the first of the two sockets opened last readable; writable it is anyway.
    final void sendTo(Descriptor socket) {
        Descriptor peer = (Descriptor) opened.getLast();
        assertThat(peer).isNotSameAs(socket);
        write(peer, "x");
    }

    /// Returns the number of polls while the loop only waits.
    final long waitsOf(Duration duration) {
        long before = loop.metrics().sleeps() + loop.metrics().polls();
        loop.runFor(duration);
        return loop.metrics().sleeps() + loop.metrics().polls() - before;
    }
}
