package dev.gyre.internal.io;

import static dev.gyre.internal.io.TestDescriptors.read;
import static dev.gyre.internal.io.TestDescriptors.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

class DescriptorTest {
    private final Pipe pipe = Pipe.open();

    @AfterEach
    void close() {
        pipe.close();
    }

    @Test
    @Clause("E-2")
    void readAndWrite_returnExpectedOutcomesAsValues() {
        ByteBuffer room = ByteBuffer.allocateDirect(4);
        assertThat(pipe.reader().read(room)).as("nothing there").isZero();
        write(pipe.writer(), "abcdef");
        assertThat(pipe.reader().read(room)).isEqualTo(4);
        assertThat(room.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {'a', 'b', 'c', 'd'}));
        assertThat(read(pipe.reader())).isEqualTo("ef");
        pipe.writer().close();
        assertThat(pipe.reader().read(room.clear())).isEqualTo(Descriptor.END);
    }

    @Test
    void read_intoAPositionedBuffer_fillsFromThere() {
        for (ByteBuffer buffer : List.of(ByteBuffer.allocate(8), ByteBuffer.allocateDirect(8))) {
            write(pipe.writer(), "xy");
            buffer.position(3).limit(7);
            assertThat(pipe.reader().read(buffer)).isEqualTo(2);
            assertThat(buffer.position()).isEqualTo(5);
            assertThat(buffer.get(3)).isEqualTo((byte) 'x');
            assertThat(buffer.get(4)).isEqualTo((byte) 'y');
            assertThat(buffer.get(2)).isZero();
        }
    }

    @Test
    @Clause("E-2")
    void write_toAFullPipe_takesZero() {
        ByteBuffer chunk = ByteBuffer.allocateDirect(4_096);
        int total = 0;
        int taken;
        do {
            taken = pipe.writer().write(chunk.clear());
            total += taken;
        } while (taken > 0);
        assertThat(total).isGreaterThan(4_096);
        assertThat(chunk.position()).isZero();
    }

    @Test
    void heapBuffers_largerThanTheDetour_arriveWhole() {
        byte[] sent = new byte[300_000];
        new Random(1).nextBytes(sent);
        ByteBuffer source = ByteBuffer.wrap(sent).asReadOnlyBuffer();
        ByteBuffer target = ByteBuffer.allocate(sent.length);
        while (target.hasRemaining()) {
            pipe.writer().write(source);
            assertThat(pipe.reader().read(target)).isPositive();
        }
        assertThat(target.array()).isEqualTo(sent);
    }

    @Test
    void emptyAndReadOnlyBuffers_areTakenAtTheirWord() {
        assertThat(pipe.reader().read(ByteBuffer.allocate(0))).isZero();
        assertThat(pipe.writer().write(ByteBuffer.allocate(0))).isZero();
        write(pipe.writer(), "kept");
        assertThatThrownBy(() -> pipe.reader().read(ByteBuffer.allocate(4).asReadOnlyBuffer()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");
        assertThat(read(pipe.reader())).as("nothing was taken from the pipe").isEqualTo("kept");
    }

    @Test
    @Clause("E-1")
    void write_withNobodyLeftToRead_isAConnectionError() {
        pipe.reader().close();
        assertThatThrownBy(() -> write(pipe.writer(), "x"))
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> {
                            assertThat(e.kind()).isEqualTo(SystemCallException.Kind.CONNECTION);
                            assertThat(e.fd()).isEqualTo(pipe.writer().fd());
                        });
    }

    @Test
    @Clause("E-1")
    void readAndWrite_interrupted_areRepeated() {
        Plan plan = new Plan();
        Descriptor reader =
                OpenDescriptor.of(() -> new FaultyKernel(plan), pipe.reader().fd(), false);
        Descriptor writer =
                OpenDescriptor.of(() -> new FaultyKernel(plan), pipe.writer().fd(), false);
        plan.fail("write", Errno.EINTR, 2).fail("read", Errno.EINTR, 2);
        write(writer, "x");
        assertThat(read(reader)).isEqualTo("x");
        plan.fail("read", Errno.EIO);
        assertThatThrownBy(() -> read(reader))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("read on descriptor " + reader.fd() + ": EIO");
    }

    @Test
    @Clause("W-3")
    void closed_isNeverUsedAgain() {
        int fd = pipe.reader().fd();
        pipe.reader().close();
        pipe.reader().close();
        assertThat(pipe.reader().isOpen()).isFalse();
        try (Pipe heir = Pipe.open()) {
            assertThat(List.of(heir.reader().fd(), heir.writer().fd())).contains(fd);
            for (Runnable use :
                    List.<Runnable>of(
                            () -> pipe.reader().fd(),
                            () -> pipe.reader().nonBlocking(),
                            () -> pipe.reader().read(ByteBuffer.allocate(1)),
                            () -> pipe.reader().write(ByteBuffer.allocate(1)))) {
                assertThatThrownBy(use::run)
                        .isInstanceOf(ClosedDescriptorException.class)
                        .hasMessageContaining("descriptor " + fd + " (closed)");
            }
            assertThat(heir.reader().generation()).isNotEqualTo(pipe.reader().generation());
        }
    }

    @Test
    void own_ofWhatIsNoDescriptor_saysSo() {
        assertThatThrownBy(() -> Descriptor.own(-3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-3");
        assertThatThrownBy(() -> Descriptor.borrow(1_000_000_000))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("descriptor 1000000000: EBADF")
                .hasMessageContaining("closed, or was never open");
    }

    @Test
    void close_ofABorrowedOne_leavesTheNumberOpen() {
        Descriptor borrowed = Descriptor.borrow(pipe.writer().fd());
        borrowed.close();
        write(pipe.writer(), "x");
        assertThat(read(pipe.reader())).isEqualTo("x");
    }

    @Test
    void nonBlocking_setsTheFlagAndKeepsTheOthers() {
        LinuxPollCalls kernel = new LinuxPollCalls();
        int fd = pipe.reader().fd();
        assertThat(kernel.fcntl(fd, Linux.F_SETFL, 0)).isZero();
        assertThat(pipe.reader().nonBlocking()).isSameAs(pipe.reader());
        assertThat(kernel.fcntl(fd, Linux.F_GETFL, 0) & Linux.O_NONBLOCK).isNotZero();
        assertThat(read(pipe.reader())).isEmpty();
    }

    @Test
    @Clause("W-2")
    void ownedDescriptors_thatNobodyHolds_areClosedWhenTheNextIsOpened() {
        long before = OpenDescriptors.count();
        for (int i = 0; i < 100; i++) {
            Pipe.open();
        }
        for (int attempt = 0; OpenDescriptors.count() > before; attempt++) {
            assertThat(attempt).as("descriptors stay open").isLessThan(100);
            System.gc();
            Pipe.open().close();
        }
    }

    // ------------------------------------------------------------------ memory

    @Test
    void buffer_ofAClosedArena_isRefused() {
        write(pipe.writer(), "kept");
        ByteBuffer buffer;
        try (Arena arena = Arena.ofConfined()) {
            buffer = arena.allocate(64).asByteBuffer();
            assertThat(pipe.reader().read(buffer.limit(1))).isEqualTo(1);
            buffer.clear();
        }
        assertThatThrownBy(() -> pipe.reader().read(buffer))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> pipe.writer().write(buffer))
                .isInstanceOf(IllegalStateException.class);
        assertThat(read(pipe.reader())).isEqualTo("ept");
    }

    @Test
    void buffer_ofAnArenaConfinedToAnotherThread_isRefused() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer buffer = arena.allocate(64).asByteBuffer();
            List<Throwable> thrown = new ArrayList<>();
            Thread stranger =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        try {
                                            pipe.writer().write(buffer);
                                        } catch (WrongThreadException e) {
                                            thrown.add(e);
                                        }
                                    });
            stranger.join();
            assertThat(thrown).hasSize(1);
        }
    }

    @Test
    void heapBuffers_onVirtualThreads_arriveWholeToo() throws Exception {
        byte[] sent = new byte[50_000];
        new Random(2).nextBytes(sent);
        ByteBuffer target = ByteBuffer.allocate(sent.length);
        Thread.ofVirtual()
                .start(
                        () -> {
                            ByteBuffer source = ByteBuffer.wrap(sent);
                            while (target.hasRemaining()) {
                                pipe.writer().write(source);
                                pipe.reader().read(target);
                            }
                        })
                .join();
        assertThat(target.array()).isEqualTo(sent);
    }

    // ------------------------------------------------------------------ closing during a call

    @Test
    @Clause("W-3")
    void close_duringAReadThatBlocks_waitsForNobody_andKeepsTheNumberUntilItIsThrough()
            throws Exception {
        Descriptor reader = pipe.reader();
        int fd = reader.fd();
        assertThat(new LinuxPollCalls().fcntl(fd, Linux.F_SETFL, 0)).isZero(); // It blocks.
        List<String> got = new ArrayList<>();
        Thread blocked = Thread.ofPlatform().start(() -> got.add(read(reader)));
        try (EventLoop loop = EventLoop.open()) {
            while (!isInSystemCall(blocked)) {
                Thread.onSpinWait();
            }
            loop.watch(reader, WatchSpec.reading(watcher -> {}));
            loop.unwatch(reader);
            loop.watch(reader, WatchSpec.reading(watcher -> {}));
            reader.close();
            assertThat(loop.metrics().watchers()).isZero();
        }
        assertThat(new LinuxPollCalls().fcntl(fd, Linux.F_GETFD, 0))
                .as("still open, since the read is under way")
                .isNotNegative();
        write(pipe.writer(), "x");
        blocked.join();
        assertThat(got).containsExactly("x");
        assertThat(new LinuxPollCalls().fcntl(fd, Linux.F_GETFD, 0)).isEqualTo(-Errno.EBADF);
    }

    /// Waits until the thread blocks in the kernel.
    private static boolean isInSystemCall(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().endsWith("LinuxPollCalls")) {
                return true;
            }
        }
        return false;
    }
}
