package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.AnotherThread;
import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

@On("io_uring")
class UringOperationsTest extends UringFixture {
    // ------------------------------------------------------------------ reading and writing

    @Test
    @Clause({"O-1", "B-4"})
    void read_ofASocket_completesWhenBytesCome() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request read = started(reader, Opcode.READ, 16);
        nothingYet();
        assertThat(requests.outstanding()).isEqualTo(1);
        send(pair[1], "hello");
        assertThat(next()).isSameAs(read);
        assertThat(read.result).isEqualTo(5);
        assertThat(requests.outstanding()).isZero();
    }

    @Test
    @Clause({"O-1", "B-4"})
    void read_ofAPipeThatDoesNotBlock_waitsForItsBytes() {
        int[] pipe = pipe();
        DescriptorState reader = requests.open(pipe[0], Traits.STREAM);
        Request read = started(reader, Opcode.READ, 16);
        nothingYet();
        nothingYet();
        send(pipe[1], "hello");
        assertThat(next().result).isEqualTo(5);
        assertThat(read.state()).isEqualTo(Request.State.IDLE);
    }

    @Test
    @Clause({"O-2", "B-4"})
    void reads_ofOneDescriptor_areServedInOrder() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        List<Request> started = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            started.add(started(reader, Opcode.READ, 1));
        }
        send(pair[1], "abcde");
        StringBuilder text = new StringBuilder();
        for (Request expected : started) {
            assertThat(next()).isSameAs(expected);
            text.append((char) (byte) Memory.getByte(expected.address));
        }
        assertThat(text).hasToString("abcde");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"O-1", "B-4"})
    void write_largerThanTheSocketTakes_isWrittenWhole(boolean vectors) {
        int[] pair = pair();
        DescriptorState writer = requests.open(pair[0], STREAM_SOCKET);
        DescriptorState reader = requests.open(pair[1], STREAM_SOCKET);
        int size = 3 << 20;
        MemorySegment data = memory(size);
        for (int i = 0; i < size; i += 4) {
            data.set(ValueLayout.JAVA_INT, i, i);
        }
        Request write = request(Opcode.WRITE, data);
        if (vectors) {
            MemorySegment table = memory(2 * Linux.SIZEOF_IOVEC);
            table.set(ValueLayout.JAVA_LONG, 0, data.address());
            table.set(ValueLayout.JAVA_LONG, 8, 1000);
            table.set(ValueLayout.JAVA_LONG, 16, data.address() + 1000);
            table.set(ValueLayout.JAVA_LONG, 24, size - 1000);
            write.opcode = Opcode.WRITE_VECTOR;
            write.address = table.address();
            write.length = 2;
        }
        requests.start(writer, write);
        MemorySegment received = memory(size);
        Request read = request(Opcode.READ, received);
        int total = 0;
        boolean written = false;
        while (total < size || !written) {
            if (read.state() == Request.State.IDLE && total < size) {
                read.address = received.address() + total;
                read.length = (long) size - total;
                requests.start(reader, read);
            }
            Request done = next();
            if (done == write) {
                written = true;
                assertThat(write.result).isEqualTo(size);
                assertThat(write.transferred).isEqualTo(size);
            } else {
                assertThat(done.result).isPositive();
                total += (int) done.result;
            }
        }
        assertThat(received.mismatch(data)).isEqualTo(-1);
    }

    @Test
    @Clause({"O-5", "B-4"})
    void read_atTheEnd_isZeroAndAnErrorEndsAllThatWait() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        started(reader, Opcode.READ, 16);
        assertThat(sockets.shutdown(pair[1], Linux.SHUT_WR)).isZero();
        assertThat(next().result).isZero();
        started(reader, Opcode.WRITE, 16);
        assertThat(sockets.shutdown(pair[1], Linux.SHUT_RDWR)).isZero();
        assertThat(next().result).isIn(16L, (long) -Errno.EPIPE);
    }

    // ------------------------------------------------------------------ connections

    @Test
    @Clause({"O-1", "B-4"})
    void connect_andAccept_meet() {
        String name = uniqueName("meet");
        MemorySegment address = memory(128);
        DescriptorState listener = requests.open(listener(name, address), STREAM_SOCKET);
        Request accept = request(Opcode.ACCEPT, memory(0));
        accept.address = 0;
        requests.start(listener, accept);
        Request connect = connect(name, address);
        List<Request> done = List.of(next(), next());
        assertThat(done).containsExactlyInAnyOrder(accept, connect);
        assertThat(connect.result).isZero();
        own.add((int) accept.result);
        assertThat(kernel.fcntl((int) accept.result, Linux.F_GETFL, 0) & Linux.O_NONBLOCK)
                .isEqualTo(Linux.O_NONBLOCK);
    }

    @Test
    @Clause({"O-1", "O-5", "B-4"})
    void connect_toNobody_isRefused() {
        String name = uniqueName("nobody");
        MemorySegment address = memory(128);
        writeName(name, address);
        connect(name, address);
        assertThat(next().result).isEqualTo(-Errno.ECONNREFUSED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"O-1", "B-4"})
    void accept_multishot_goesOnUntilCancelled(boolean withResumeAtOnce) {
        String name = uniqueName("many");
        MemorySegment address = memory(128);
        DescriptorState listener = requests.open(listener(name, address), STREAM_SOCKET);
        Request accept = request(Opcode.ACCEPT, memory(0));
        accept.address = 0;
        accept.multishot = true;
        requests.start(listener, accept);
        for (int i = 0; i < 20; i++) {
            connect(name, address);
        }
        int accepted = 0;
        int connected = 0;
        while (accepted < 20 || connected < 20) {
            Request done = next();
            if (done == accept) {
                assertThat(done.result).isPositive();
                assertThat(done.more).isTrue();
                own.add((int) done.result);
                accepted++;
                if (!withResumeAtOnce) {
                    backend.pollNow(); // More come while the owner is still at it.
                }
                requests.resume(accept);
            } else {
                connected++;
            }
        }
        nothingYet();
        requests.cancel(accept);
        assertThat(next()).isSameAs(accept);
        assertThat(accept.isCancelled()).isTrue();
        assertThat(accept.more).isFalse();
        assertThat(requests.outstanding()).isZero();
    }

    // ------------------------------------------------------------------ receiving

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"O-8", "B-4"})
    void receive_once_bringsABufferThatComesBack(boolean socket) {
        int[] ends = socket ? pair() : pipe();
        DescriptorState reader = requests.open(ends[0], socket ? STREAM_SOCKET : Traits.STREAM);
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        for (int round = 0; round < 10; round++) {
            requests.start(reader, receive);
            nothingYet();
            send(ends[1], "round " + round);
            assertThat(next()).isSameAs(receive);
            assertThat(receivedIn(receive)).isEqualTo("round " + round);
            assertThat(requests.buffers().available()).isEqualTo(3);
            requests.releaseBuffer(receive.buffer);
            assertThat(requests.buffers().available()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"O-8", "E-3", "B-4"})
    void receive_multishotWithFewBuffers_losesNothing(boolean withRing) {
        if (!withRing) {
            backend.pollNow(); // Enables the ring.
            plan.fail("io_uring_register", Errno.EINVAL);
        }
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(reader, receive);
        send(pair[1], "line 0\n");
        assertThat(next()).isSameAs(receive);
        requests.releaseBuffer(receive.buffer);
        requests.resume(receive); // Multishot from here on, as the socket was drained.
        nothingYet();
        StringBuilder sent = new StringBuilder();
        for (int i = 1; i < 300; i++) {
            sent.append("line ").append(i).append('\n');
        }
        send(pair[1], sent.toString());
        assertThat(sockets.shutdown(pair[1], Linux.SHUT_WR)).isZero();
        StringBuilder received = new StringBuilder();
        List<Integer> out = new ArrayList<>();
        while (true) {
            if (out.size() == 4) {
                nothingYet(); // No buffer, no bytes, and no spinning.
                out.forEach(requests::releaseBuffer);
                out.clear();
            }
            Request done = next();
            assertThat(done).isSameAs(receive);
            if (!done.more) {
                break;
            }
            received.append(receivedIn(done));
            out.add(done.buffer);
            requests.resume(receive);
        }
        assertThat(receive.result).isZero();
        assertThat(received).hasToString(sent.toString());
        out.forEach(requests::releaseBuffer);
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"O-1", "B-4"})
    void receive_multishotOfAnEmptyDatagram_isAResultAndNotTheEnd(boolean first) {
        int[] pair = pair(Linux.SOCK_DGRAM);
        DescriptorState reader = requests.open(pair[0], Traits.SOCKET);
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(reader, receive);
        List<String> sent = first ? List.of("", "one", "two") : List.of("one", "", "", "two");
        for (String datagram : sent) {
            nothingYet();
            send(pair[1], datagram);
            assertThat(next()).isSameAs(receive);
            assertThat(receive.more).isTrue();
            assertThat(receive.result).isEqualTo(datagram.length());
            if (receive.buffer >= 0) {
                assertThat(receivedIn(receive)).isEqualTo(datagram);
                requests.releaseBuffer(receive.buffer);
            }
            assertThat(requests.buffers().available()).isEqualTo(4);
            requests.resume(receive);
        }
        requests.cancel(receive);
        assertThat(next()).isSameAs(receive);
        assertThat(receive.isCancelled()).isTrue();
    }

    @Test
    @Clause({"O-7", "B-4"})
    void receive_multishotWithAnEmptyDatagramHeldAtTheClose_closesNoOtherDescriptor() {
        int[] pair = pair(Linux.SOCK_DGRAM);
        DescriptorState reader = requests.open(pair[0], Traits.SOCKET);
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(reader, receive);
        send(pair[1], "one");
        assertThat(next()).isSameAs(receive);
        requests.releaseBuffer(receive.buffer);
        requests.resume(receive); // Multishot from here on, as the socket was drained.
        nothingYet();
        send(pair[1], "two");
        assertThat(next()).isSameAs(receive);
        requests.releaseBuffer(receive.buffer);
        send(pair[1], "");
        backend.pollNow(); // Held, because the owner has not resumed.
        requests.close(reader, () -> {});
        requests.resume(receive);
        assertThat(next()).isSameAs(receive);
        assertThat(receive.isCancelled()).isTrue();
        assertThat(plan.calls()).doesNotContain("close 0");
    }

    @Test
    @Clause({"O-6", "B-4"})
    void receive_multishotCancelledWithBytesHeld_handsThemOutFirst() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(reader, receive);
        send(pair[1], "zero");
        assertThat(next()).isSameAs(receive);
        String text = receivedIn(receive);
        requests.releaseBuffer(receive.buffer);
        requests.resume(receive); // Multishot from here on, as the socket was drained.
        nothingYet();
        send(pair[1], "one");
        assertThat(next()).isSameAs(receive);
        text += receivedIn(receive);
        requests.releaseBuffer(receive.buffer);
        send(pair[1], "two");
        backend.pollNow();
        requests.cancel(receive);
        requests.resume(receive);
        for (Request done = next(); done.more; done = next()) {
            text += receivedIn(done);
            requests.releaseBuffer(done.buffer);
            requests.resume(done);
        }
        assertThat(receive.isCancelled()).isTrue();
        assertThat(text).isEqualTo("zeroonetwo");
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    @Test
    @Clause({"O-7", "B-4"})
    void receive_multishotOfAClosedDescriptor_givesItsBuffersBack() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(reader, receive);
        send(pair[1], "zero");
        assertThat(next()).isSameAs(receive);
        requests.releaseBuffer(receive.buffer);
        requests.resume(receive); // Multishot from here on, as the socket was drained.
        nothingYet();
        send(pair[1], "one");
        assertThat(next()).isSameAs(receive);
        send(pair[1], "two");
        backend.pollNow();
        List<String> log = new ArrayList<>();
        requests.close(reader, () -> log.add("released"));
        requests.releaseBuffer(receive.buffer);
        requests.resume(receive);
        assertThat(next()).isSameAs(receive);
        assertThat(receive.isCancelled()).isTrue();
        assertThat(log).containsExactly("released");
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    // ------------------------------------------------------------------ ending

    @Test
    @Clause({"O-6", "B-4"})
    void cancelAll_completesInOrderAndOnlyThoseWithTheKey() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        List<Request> reads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Request read = request(Opcode.READ, memory(1));
            read.key = i % 2 == 0 ? "even" : "odd";
            requests.start(reader, read);
            reads.add(read);
        }
        nothingYet();
        requests.cancelAll(reader, "even", Kind.ALL);
        assertThat(List.of(next(), next())).containsExactly(reads.get(0), reads.get(2));
        nothingYet();
        send(pair[1], "xy");
        assertThat(List.of(next(), next())).containsExactly(reads.get(1), reads.get(3));
        assertThat(reads.get(1).result).isEqualTo(1);
    }

    @Test
    @Clause({"O-7", "B-4"})
    void close_ofADescriptor_waitsForTheKernelBeforeItLetsTheNumberGo() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request first = started(reader, Opcode.READ, 1);
        Request second = started(reader, Opcode.READ, 1);
        nothingYet();
        List<String> log = new ArrayList<>();
        requests.close(reader, () -> log.add("released"));
        assertThat(log).as("the first is still in the kernel").isEmpty();
        assertThat(List.of(next(), next())).containsExactly(first, second);
        assertThat(log).containsExactly("released");
        assertThat(first.isCancelled() && second.isCancelled()).isTrue();
        DescriptorState idle = requests.open(pair[1], STREAM_SOCKET);
        requests.close(idle, () -> log.add("at once"));
        assertThat(log).containsExactly("released", "at once");
    }

    @Test
    @Clause({"S-3", "B-4"})
    void close_ofTheBackend_completesWhatTheKernelHad() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request inKernel = started(reader, Opcode.READ, 16);
        Request queued = started(reader, Opcode.READ, 16);
        nothingYet();
        Request unsent = started(requests.open(pair[1], STREAM_SOCKET), Opcode.READ, 16);
        requests.close();
        List<Request> ended = new ArrayList<>();
        for (Request done = requests.pollCompleted();
                done != null;
                done = requests.pollCompleted()) {
            assertThat(done.isCancelled()).isTrue();
            ended.add(done);
        }
        assertThat(ended).containsExactlyInAnyOrder(inKernel, queued, unsent);
        assertThat(requests.outstanding()).isZero();
    }

    // ------------------------------------------------------------------ files

    @Test
    @Clause({"O-1", "B-4"})
    void files_areWrittenReadAndClosedByTheKernel(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("file");
        byte[] name = (path + "\0").getBytes(StandardCharsets.UTF_8);
        MemorySegment cString = memory(name.length);
        cString.copyFrom(MemorySegment.ofArray(name));
        Request open = request(Opcode.FILE_OPEN, cString);
        open.flags = Linux.O_RDWR | Linux.O_CREAT | Linux.O_CLOEXEC;
        open.length = 0600;
        requests.startFile(open);
        assertThat(next()).isSameAs(open);
        int fd = (int) open.result;
        assertThat(fd).isNotNegative();

        MemorySegment text = memory(5);
        text.copyFrom(MemorySegment.ofArray("hello".getBytes(StandardCharsets.UTF_8)));
        Request write = file(Opcode.FILE_WRITE, fd, text);
        write.offset = 3;
        requests.startFile(write);
        assertThat(next().result).isEqualTo(5);
        requests.startFile(file(Opcode.FILE_SYNC, fd, memory(0)));
        assertThat(next().result).isZero();
        MemorySegment read = memory(16);
        requests.startFile(file(Opcode.FILE_READ, fd, read));
        assertThat(next().result).isEqualTo(8);
        assertThat(Files.readString(path)).isEqualTo("\0\0\0hello");
        MemorySegment status = memory(Linux.SIZEOF_STATX);
        Request look = file(Opcode.FILE_STATUS, Linux.AT_FDCWD, cString);
        look.address2 = status.address();
        requests.startFile(look);
        assertThat(next().result).isZero();
        assertThat(status.get(ValueLayout.JAVA_LONG, Linux.OFFSETOF_STATX_SIZE)).isEqualTo(8);
        requests.startFile(file(Opcode.FILE_CLOSE, fd, memory(0)));
        assertThat(next().result).isZero();
        assertThat(kernel.fcntl(fd, Linux.F_GETFD, 0)).isEqualTo(-Errno.EBADF);
        requests.startFile(file(Opcode.FILE_READ, fd, read));
        assertThat(next().result).isEqualTo(-Errno.EBADF);
    }

    private static Request file(Opcode opcode, int fd, MemorySegment memory) {
        Request request = request(opcode, memory);
        request.fd = fd;
        return request;
    }

    @Test
    @Clause({"O-1", "B-4"})
    void sendFile_isPerformedWhenThereIsRoom(@TempDir Path directory) throws Exception {
        byte[] content = new byte[1 << 20];
        Arrays.fill(content, (byte) 7);
        Path path = Files.write(directory.resolve("large"), content);
        byte[] name = (path + "\0").getBytes(StandardCharsets.UTF_8);
        MemorySegment cString = memory(name.length);
        cString.copyFrom(MemorySegment.ofArray(name));
        int file = seam.files().get().open(cString.address(), Linux.O_RDONLY, 0);
        own.add(file);
        int[] pair = pair();
        DescriptorState writer = requests.open(pair[0], STREAM_SOCKET);
        Request send = new Request(callback -> {});
        send.opcode = Opcode.SEND_FILE;
        send.fd2 = file;
        send.length = content.length;
        requests.start(writer, send);
        DescriptorState reader = requests.open(pair[1], STREAM_SOCKET);
        Request read = request(Opcode.READ, memory(1 << 16));
        int total = 0;
        boolean sent = false;
        while (total < content.length || !sent) {
            if (read.state() == Request.State.IDLE && total < content.length) {
                requests.start(reader, read);
            }
            Request done = next();
            if (done == send) {
                sent = true;
                assertThat(send.result).isEqualTo(content.length);
            } else {
                total += (int) done.result;
            }
        }
    }

    // ------------------------------------------------------------------ threads

    @Test
    @Clause({"B-4", "L-2"})
    void operations_outliveTheThreadThatStartedThem() {
        int[] pair = pair();
        int[] pipe = pipe();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        Request[] started = new Request[3];
        AnotherThread.runs(
                () -> {
                    started[0] = started(reader, Opcode.READ, 16);
                    started[1] = started(requests.open(pipe[0], Traits.STREAM), Opcode.READ, 16);
                    Request receive = new Request(callback -> {});
                    receive.opcode = Opcode.RECEIVE;
                    receive.multishot = true;
                    requests.start(requests.open(pair[1], STREAM_SOCKET), receive);
                    started[2] = receive;
                    nothingYet();
                    nothingYet();
                    backend.detach();
                });
        assertThat(requests.outstanding()).isEqualTo(3);
        send(pair[1], "hello");
        assertThat(next()).isSameAs(started[0]);
        assertThat(started[0].result).isEqualTo(5);
        send(pipe[1], "pipe");
        assertThat(next()).isSameAs(started[1]);
        send(pair[0], "back");
        assertThat(next()).isSameAs(started[2]);
        assertThat(receivedIn(started[2])).isEqualTo("back");
        requests.releaseBuffer(started[2].buffer);
        assertThat(requests.buffers().available()).isEqualTo(4);
    }

    @Test
    @Clause({"B-4", "L-7"})
    void leave_andComeBack_onOneThread_losesNothing() {
        int[] pair = pair();
        DescriptorState reader = requests.open(pair[0], STREAM_SOCKET);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            Request read = started(reader, Opcode.READ, 1);
            backend.pollNow();
            backend.detach();
            if (i % 2 == 0) {
                send(pair[1], "x");
                backend.pollNow();
                backend.detach();
            } else {
                backend.pollNow();
                send(pair[1], "x");
                backend.detach();
            }
            assertThat(next()).isSameAs(read);
            text.append((char) (byte) Memory.getByte(read.address));
        }
        assertThat(text).hasToString("x".repeat(50));
        assertThat(uring.setupFlags()).as("a single ring").hasSize(1);
    }

    @Test
    @Clause("B-4")
    void enter_thatLostCompletions_endsOperationsWithAnError() {
        int[] pair = pair();
        started(requests.open(pair[0], STREAM_SOCKET), Opcode.READ, 16);
        nothingYet();
        plan.fail("io_uring_enter", Errno.EBADR);
        backend.wake();
        assertThat(next().result).isEqualTo(-Errno.ENOMEM);
    }

    @Test
    @Clause({"O-8", "B-4"})
    void submissions_beyondTheQueue_areAllMade() {
        backend.close();
        backend = IoUringBackend.open(seam, uring, 16, 2, 2);
        requests = backend.openOperations(host(LoopConfig.DEFAULT));
        List<Request> reads = new ArrayList<>();
        List<Integer> peers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int[] pair = pair();
            reads.add(started(requests.open(pair[0], STREAM_SOCKET), Opcode.READ, 4));
            peers.add(pair[1]);
        }
        nothingYet();
        peers.forEach(peer -> send(peer, "abc"));
        List<Request> done = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            done.add(next());
        }
        assertThat(done).containsExactlyInAnyOrderElementsOf(reads);
        assertThat(done).allMatch(read -> read.result == 3);
    }
}
