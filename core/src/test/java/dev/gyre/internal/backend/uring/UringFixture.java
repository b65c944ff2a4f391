package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxSocketCalls;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Operations over a ring with fault injection and without a loop, and helpers for their tests.
abstract class UringFixture {
    protected static final int STREAM_SOCKET = Traits.SOCKET | Traits.STREAM;

    protected final Plan plan = new Plan();
    protected final FaultyUring uring = new FaultyUring(plan);
    protected final SyscallFactories seam =
            new SyscallFactories(
                    () -> new FaultyKernel(plan),
                    SyscallFactories.LINUX.sockets(),
                    SyscallFactories.LINUX.files());
    protected final LinuxPollCalls kernel = new LinuxPollCalls();
    protected final SocketCalls sockets = new LinuxSocketCalls();
    protected final List<Integer> own = new ArrayList<>();
    protected final List<MemorySegment> kept = new ArrayList<>();
    protected IoUringBackend backend;
    protected OperationEngine requests;

    /// Tasks that workers submitted to the loop thread.
    private final Queue<Runnable> handedOver = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void open() {
        assumeTrue(
                UringSupport.isAvailable(), "this kernel refuses io_uring: `gyre doctor` says why");
        open(LoopConfig.DEFAULT.withReceiveBuffers(4, 64));
    }

    protected void open(LoopConfig config) {
        if (backend != null) {
            backend.close();
        }
        backend = IoUringBackend.open(seam, uring, 16);
        requests = backend.openOperations(host(config));
    }

    @AfterEach
    void nothingIsLeft() {
        if (backend != null) {
            backend.close();
            own.forEach(kernel::close);
            assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
            assertThat(uring.mapped()).as("memory the backend left mapped").isEmpty();
        }
    }

    protected MemorySegment memory(int bytes) {
        MemorySegment segment = Memory.allocate(bytes);
        kept.add(segment);
        return segment;
    }

    protected int[] pair() {
        return pair(Linux.SOCK_STREAM);
    }

    protected int[] pair(int type) {
        MemorySegment pair = memory(8);
        assertThat(
                        kernel.socketpair(
                                Linux.AF_UNIX,
                                type | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC,
                                0,
                                pair.address()))
                .isZero();
        return owned(pair);
    }

    protected int[] pipe() {
        MemorySegment pair = memory(8);
        assertThat(kernel.pipe2(pair.address(), Linux.O_NONBLOCK | Linux.O_CLOEXEC)).isZero();
        return owned(pair);
    }

    protected int[] owned(MemorySegment pair) {
        int first = pair.get(ValueLayout.JAVA_INT, 0);
        int second = pair.get(ValueLayout.JAVA_INT, 4);
        own.add(first);
        own.add(second);
        return new int[] {first, second};
    }

    protected static Request request(Opcode opcode, MemorySegment memory) {
        Request request = new Request(callback -> {});
        request.opcode = opcode;
        request.address = memory.address();
        request.length = memory.byteSize();
        return request;
    }

    protected Request started(DescriptorState descriptor, Opcode opcode, int bytes) {
        Request request = request(opcode, memory(bytes));
        requests.start(descriptor, request);
        return request;
    }

    /// Waits for the next completion.
    protected Request next() {
        for (int i = 0; i < 1_000; i++) {
            for (Runnable task = handedOver.poll(); task != null; task = handedOver.poll()) {
                task.run();
            }
            Request done = requests.pollCompleted();
            if (done != null) {
                return done;
            }
            backend.pollUntil(System.nanoTime() + Duration.ofSeconds(10).toNanos());
        }
        throw new AssertionError("no completion in a thousand waits");
    }

    protected void nothingYet() {
        backend.pollNow();
        assertThat(requests.pollCompleted()).isNull();
    }

    protected void send(int fd, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment segment = memory(Math.max(1, bytes.length));
        segment.copyFrom(MemorySegment.ofArray(bytes));
        assertThat(kernel.write(fd, segment.address(), bytes.length)).isEqualTo(bytes.length);
    }

    protected String receivedIn(Request request) {
        byte[] bytes = new byte[(int) request.result];
        requests.buffers().memory(request.buffer).get(0, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    protected int listener(String name, MemorySegment address) {
        int fd =
                sockets.socket(
                        Linux.AF_UNIX,
                        Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC,
                        0);
        own.add(fd);
        writeName(name, address);
        assertThat(sockets.bind(fd, address.address(), 2 + 1 + name.length())).isZero();
        assertThat(sockets.listen(fd, 64)).isZero();
        return fd;
    }

    protected static void writeName(String name, MemorySegment address) {
        address.set(ValueLayout.JAVA_SHORT, 0, (short) Linux.AF_UNIX);
        address.set(ValueLayout.JAVA_BYTE, 2, (byte) 0);
        address.asSlice(3).copyFrom(MemorySegment.ofArray(name.getBytes(StandardCharsets.UTF_8)));
    }

    protected Request connect(String name, MemorySegment address) {
        int fd =
                sockets.socket(
                        Linux.AF_UNIX,
                        Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC,
                        0);
        own.add(fd);
        DescriptorState client = requests.open(fd, STREAM_SOCKET);
        Request connect = request(Opcode.CONNECT, address);
        connect.length = 3L + name.length();
        requests.start(client, connect);
        return connect;
    }

    protected static String uniqueName(String name) {
        return "gyre-" + name + "-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    }

    protected LoopContext host(LoopConfig config) {
        return new TestLoopContext(config) {
            @Override
            public boolean trySubmitPriority(Runnable task) {
                handedOver.add(task);
                backend.wake();
                return true;
            }
        };
    }
}
