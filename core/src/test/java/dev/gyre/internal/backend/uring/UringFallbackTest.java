package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.AnotherThread;
import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Linux;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Operations on a kernel without some opcodes, or without room for SQEs.
@On("io_uring")
class UringFallbackTest extends UringFixture {
    private static final LoopConfig FEW_BUFFERS = LoopConfig.DEFAULT.withReceiveBuffers(4, 64);

    private Request receiveEach(DescriptorState from) {
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(from, receive);
        return receive;
    }

    private Request acceptEach(int listener) {
        Request accept = new Request(callback -> {});
        accept.opcode = Opcode.ACCEPT;
        accept.multishot = true;
        requests.start(requests.open(listener, STREAM_SOCKET), accept);
        return accept;
    }

    // ------------------------------------------------------------------ opcodes

    @Test
    @Clause("B-4")
    void describe_onThisKernel_tellsWhatIsNotNative() {
        assertThat(new KernelFeatures(-1L).describe()).isEqualTo("all operations native");
        assertThat(new KernelFeatures(~(1L << IoUringAbi.IORING_OP_ACCEPT)).describe())
                .isEqualTo("by poll: accept");
        assertThat(new KernelFeatures(~(1L << IoUringAbi.IORING_OP_READ)).describe())
                .as("reads of files other than sockets, and provided buffers")
                .isEqualTo("by poll: read, receive; by workers: file-read");
        assertThat(new KernelFeatures(0).describe())
                .isEqualTo(
                        "by poll: read, write, read-vector, write-vector, receive, receive-message,"
                            + " send-message, accept, connect; by workers: file-open, file-read,"
                            + " file-write, file-sync, file-status, file-close");
    }

    @Test
    @Clause({"B-4", "O-2", "O-8"})
    void writes_byPoll_manyInAQueue_areMadeOneAfterTheOther() {
        uring.withoutOpcodes(IoUringAbi.IORING_OP_SEND);
        open(FEW_BUFFERS);
        int[] pair = pair();
        DescriptorState writer = requests.open(pair[0], STREAM_SOCKET);
        MemorySegment large = memory(1 << 20);
        Request first = request(Opcode.WRITE, large);
        requests.start(writer, first);
        nothingYet(); // Blocks, so that the others queue up behind it.
        MemorySegment none = memory(1);
        Deque<Request> expected = new ArrayDeque<>(List.of(first));
        for (int i = 0; i < 20_000; i++) {
            Request write = request(Opcode.WRITE, none);
            write.length = 0;
            requests.start(writer, write);
            expected.add(write);
        }
        MemorySegment into = memory(1 << 16);
        for (long left = 1 << 20; left > 0; ) {
            long read = kernel.read(pair[1], into.address(), into.byteSize());
            if (read > 0) {
                left -= read;
            } else {
                backend.pollNow();
            }
        }
        while (!expected.isEmpty()) {
            assertThat(next()).isSameAs(expected.remove());
        }
        assertThat(uring.refusedSubmissions()).isZero();
    }

    @Test
    @Clause({"B-4", "O-6"})
    void cancel_ofAFileThatAWorkerHas_endsItOnce() {
        uring.withoutOpcodes(IoUringAbi.IORING_OP_FSYNC);
        List<Runnable> work = new ArrayList<>();
        open(FEW_BUFFERS.withExecutor(work::add));
        Request sync = request(Opcode.FILE_SYNC, memory(1));
        sync.fd = pipe()[0];
        requests.startFile(sync);
        requests.cancel(sync);
        requests.cancel(sync);
        nothingYet();
        work.removeFirst().run();
        assertThat(next()).isSameAs(sync);
        assertThat(sync.isCancelled()).as("cancelled before a worker began it").isTrue();
        assertThat(requests.outstanding()).isZero();
    }

    @Test
    @Clause({"O-7", "B-4"})
    void close_ofAFileThatOthersUse_isNothingToDoAndNoError() {
        Request close = request(Opcode.FILE_CLOSE, memory(1));
        close.fd = -1;
        requests.startFile(close);
        assertThat(next()).isSameAs(close);
        assertThat(close.result).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"O-1", "B-4"})
    void connect_toAFullBacklog_failsInsteadOfAskingForEver(boolean isNative) {
        if (!isNative) {
            uring.withoutOpcodes(IoUringAbi.IORING_OP_CONNECT);
            open(FEW_BUFFERS);
        }
        String name = uniqueName("full");
        MemorySegment address = memory(128);
        int listener = listener(name, address);
        assertThat(sockets.listen(listener, 0)).isZero();
        List<Long> results = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            connect(name, address);
            results.add(next().result);
        }
        assertThat(results).contains((long) -Errno.EAGAIN);
    }

    // ------------------------------------------------------------------ multishots and buffers

    @Test
    @Clause("B-4")
    void accept_whereNoneGoesOnByItself_isAskedForOneByOne() {
        uring.withoutAcceptMultishot();
        String name = uniqueName("single");
        MemorySegment address = memory(128);
        int listener = listener(name, address);
        Request accept = acceptEach(listener);
        int accepted = 0;
        for (int i = 0; i < 10; i++) {
            connect(name, address);
        }
        for (int i = 0; i < 20; i++) {
            Request done = next();
            if (done == accept) {
                assertThat(done.more).isTrue();
                own.add((int) done.result);
                accepted++;
                requests.resume(accept);
            }
        }
        assertThat(accepted).isEqualTo(10);
        assertThat(uring.refusedSubmissions()).as("tried once").isEqualTo(1);
        assertThat(backend.describe()).isEqualTo("one at a time: accept");
        requests.cancel(accept);
        assertThat(next().isCancelled()).isTrue();
    }

    @Test
    @Clause({"B-4", "E-1"})
    void accept_ofWhatDoesNotListen_failsAndSaysNothingOfTheKernel() {
        int[] pair = pair();
        Request accept = acceptEach(pair[0]);
        assertThat(next()).isSameAs(accept);
        assertThat(accept.result).isEqualTo(-Errno.EINVAL);
        assertThat(accept.more).isFalse();
        assertThat(backend.describe()).isEqualTo("all operations native");
    }

    @Test
    @Clause({"B-4", "O-8"})
    void receive_whereNoneGoesOnByItself_takesBuffersOfTheRingOneByOne() {
        uring.withoutReceiveMultishot();
        int[] pair = pair();
        Request receive = receiveEach(requests.open(pair[0], STREAM_SOCKET));
        for (int i = 0; i < 20; i++) {
            send(pair[1], "round " + i);
            assertThat(next()).isSameAs(receive);
            assertThat(receivedIn(receive)).isEqualTo("round " + i);
            requests.releaseBuffer(receive.buffer);
            requests.resume(receive);
        }
        assertThat(uring.refusedSubmissions()).isEqualTo(1);
        assertThat(backend.describe()).isEqualTo("one at a time: receive");
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    @Test
    @Clause({"B-4", "O-8", "L-2"})
    void buffers_thatALaterRingRefuses_areEachHandedOutOnce() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request[] receive = new Request[1];
        List<Integer> kept = new ArrayList<>();
        AnotherThread.runs(
                () -> {
                    receive[0] = receiveEach(reader);
                    // The ring's order then differs from the order in the pool.
                    for (int i = 0; i < 7; i++) {
                        nothingYet();
                        send(pair[1], "round " + i);
                        assertThat(next()).isSameAs(receive[0]);
                        if (i == 5) {
                            kept.add(receive[0].buffer);
                        } else {
                            requests.releaseBuffer(receive[0].buffer);
                        }
                        requests.resume(receive[0]);
                    }
                    backend.detach();
                });
        uring.withoutBufferRings();
        Set<Integer> out = new HashSet<>(kept);
        for (int i = 0; i < 3; i++) {
            send(pair[1], "later " + i);
            assertThat(next()).isSameAs(receive[0]);
            assertThat(receivedIn(receive[0])).isEqualTo("later " + i);
            assertThat(out.add(receive[0].buffer)).as("a free buffer").isTrue();
            requests.resume(receive[0]);
        }
        assertThat(requests.buffers().available()).isZero();
        send(pair[1], "starved");
        nothingYet();
        nothingYet();
        out.forEach(requests::releaseBuffer);
        assertThat(next()).isSameAs(receive[0]);
        assertThat(receivedIn(receive[0])).isEqualTo("starved");
        assertThat(backend.describe()).isEqualTo("by poll: receive");
    }

    @Test
    @Clause({"B-4", "L-2"})
    void receive_fromAPipe_polledOnANewRing_waitsForThatRingsBuffers() {
        int[] pipe = pipe();
        Request[] receive = new Request[1];
        AnotherThread.runs(
                () -> {
                    receive[0] = receiveEach(requests.open(pipe[0], Traits.STREAM));
                    nothingYet();
                    nothingYet(); // It would block, and is polled now.
                    backend.detach();
                });
        Set<Integer> out = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            send(pipe[1], "part " + i);
            assertThat(next()).isSameAs(receive[0]);
            assertThat(receivedIn(receive[0])).isEqualTo("part " + i);
            assertThat(out.add(receive[0].buffer)).isTrue();
            requests.resume(receive[0]);
        }
        out.forEach(requests::releaseBuffer);
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    // ------------------------------------------------------------------ no room

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"B-4", "O-8", "E-3"})
    void completions_ofManyMultishots_beyondTheQueue_allArrive(boolean isNative) {
        if (!isNative) {
            uring.withoutOpcodes(IoUringAbi.IORING_OP_RECV);
        }
        open(FEW_BUFFERS);
        backend.close();
        backend = IoUringBackend.open(seam, uring, 16, 2, 4);
        requests = backend.openOperations(host(FEW_BUFFERS));
        int descriptors = 30;
        int rounds = 5;
        List<Integer> peers = new ArrayList<>();
        for (int i = 0; i < descriptors; i++) {
            int[] pair = pair();
            peers.add(pair[1]);
            Request receive = receiveEach(requests.open(pair[0], STREAM_SOCKET));
            receive.key = i;
        }
        nothingYet();
        StringBuilder[] received = new StringBuilder[descriptors];
        for (int i = 0; i < descriptors; i++) {
            received[i] = new StringBuilder();
        }
        for (int round = 0; round < rounds; round++) {
            String text = "<" + round + ">";
            peers.forEach(peer -> send(peer, text));
            for (int i = 0; i < descriptors; i++) {
                Request done = next();
                assertThat(done.more).as("result %d", done.result).isTrue();
                received[(int) done.key].append(receivedIn(done));
                requests.releaseBuffer(done.buffer);
                requests.resume(done);
            }
        }
        assertThat(received).allSatisfy(text -> assertThat(text).hasToString("<0><1><2><3><4>"));
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EBUSY, Errno.EAGAIN, Errno.EINTR})
    @Clause({"B-4", "O-8", "E-3"})
    void starts_whileTheQueueStaysFull_waitTheirTurnInOrder(int errno) {
        backend.close();
        backend = IoUringBackend.open(seam, uring, 16, 4, 8);
        requests = backend.openOperations(host(FEW_BUFFERS));
        backend.pollNow();
        List<Request> reads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            int[] pair = pair();
            send(pair[1], "abc");
            reads.add(started(requests.open(pair[0], STREAM_SOCKET), Opcode.READ, 4));
        }
        plan.fail("io_uring_enter", errno, 5);
        Set<Request> done = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            Request read = next();
            assertThat(read.result).isEqualTo(3);
            done.add(read);
        }
        assertThat(done).containsExactlyInAnyOrderElementsOf(reads);
        assertThat(requests.outstanding()).isZero();
    }

    @Test
    @Clause("B-4")
    void enter_thatLostCompletions_asksAnewForWhatWasOnlyPolled() {
        uring.withoutOpcodes(IoUringAbi.IORING_OP_RECV);
        open(FEW_BUFFERS);
        int[] pair = pair();
        Request read = started(requests.open(pair[0], STREAM_SOCKET), Opcode.READ, 16);
        nothingYet();
        plan.fail("io_uring_enter", Errno.EBADR);
        backend.wake();
        nothingYet();
        send(pair[1], "still there");
        assertThat(next()).isSameAs(read);
        assertThat(read.result).isEqualTo(11);
        assertThat(kernel.fcntl(pair[0], Linux.F_GETFD, 0)).isNotNegative();
    }
}
