package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.io.TestDescriptors;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultySockets;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.ReceiveOperation;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

/// An error, an interruption and a short count at every call that operations make over epoll.
@On("epoll")
class ReadinessFaultsTest extends FaultFixture {

    // ------------------------------------------------------------------ errors

    @ParameterizedTest
    @ValueSource(
            strings = {
                "recv",
                "send",
                "readv",
                "writev",
                "recvmsg",
                "sendmsg",
                "accept4",
                "connect",
                "getsockopt",
                "getpeername",
                "sendfile",
                "splice",
                "read",
                "write",
                "open",
                "pread",
                "pwrite",
                "fsync",
                "fdatasync",
                "statx"
            })
    @Clause({"O-5", "E-1", "E-3"})
    void call_refused_completesThatOperationOnceAndLeavesTheOthers(String call) {
        Operation operation = operationOf(call);
        List<Descriptor> others = keptPair();
        Operation other = operations.read(others.get(1), Buffer.allocate(8), note("other")).start();
        settle();
        plan.fail(call, Errno.ENOMEM);
        operation.start();
        runUntilDone(operation);
        settle();
        assertThat(completed).containsExactly(call + " ENOMEM");
        assertThat(operation.failure()).isInstanceOf(SystemCallException.class);
        TestDescriptors.write(others.get(0), "on");
        runUntilDone(other);
        assertThat(completed).containsExactly(call + " ENOMEM", "other 2");
        if (!call.startsWith("get")) { // By then the connection has come about.
            operation.start();
            runUntilDone(operation);
            assertThat(completed.getLast())
                    .as("started again, with what was lent back in its hands")
                    .isEqualTo(successOf(call));
        }
    }

    @ParameterizedTest
    @CsvSource({"12, ENOMEM", "28, ENOSPC", "1, EPERM"})
    @Clause({"O-5", "E-3"})
    void interest_refused_completesWhatWaitsForIt(int errno, String name) {
        List<Descriptor> pair = keptPair();
        Buffer buffer = Buffer.allocate(8);
        Operation read = operations.read(pair.get(1), buffer, note("read")).start();
        Operation second = operations.read(pair.get(1), Buffer.allocate(8), note("second")).start();
        plan.fail("epoll_ctl", errno);
        runUntilDone(read);
        runUntilDone(second);
        settle();
        assertThat(completed).containsExactly("read " + name, "second " + name);
        read.start();
        settle();
        TestDescriptors.write(pair.get(0), TEXT);
        runUntilDone(read);
        assertThat(completed).as("asked for anew").endsWith("read 6");
    }

    @Test
    @Clause({"O-5", "E-3"})
    void moreInterest_refused_completesWhatWaitsAndLaterOnesWork() {
        List<Descriptor> pair = keptPair();
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        settle();
        Buffer large = Buffer.allocate(1 << 22);
        while (large.writable() > 0) {
            large.put((byte) 1);
        }
        Operation write = operations.write(pair.get(1), large, note("write")).start();
        plan.fail("epoll_ctl", Errno.ENOMEM);
        runUntilDone(write);
        runUntilDone(read);
        assertThat(completed).containsExactly("read ENOMEM", "write ENOMEM");
        assertThat(write.transferred()).as("what went out before").isPositive();
        assertThat(large.readable() + write.transferred()).isEqualTo(1 << 22);
        read.start();
        settle();
        TestDescriptors.write(pair.get(0), TEXT);
        runUntilDone(read);
        assertThat(completed).endsWith("read 6");
    }

    @Test
    @Clause({"O-5", "O-8"})
    void receive_refused_givesItsBufferBack() {
        loop.close();
        loop = open(config().withReceiveBuffers(1, 64));
        operations = Operations.on(loop);
        Descriptor from = withText();
        ReceiveOperation receive =
                operations.receive(
                        from,
                        op ->
                                completed.add(
                                        op.result() > 0
                                                ? op.received().getText(US_ASCII)
                                                : op.isCancelled() ? "cancelled" : "failed"));
        for (int i = 0; i < 3; i++) {
            plan.fail("recv", Errno.ENOMEM);
            receive.start();
            runUntilDone(receive);
        }
        receive.start();
        runUntil("received", () -> completed.size() == 4);
        assertThat(completed).containsExactly("failed", "failed", "failed", TEXT);
        assertThat(receive.cancel()).isTrue();
        runUntilDone(receive);
    }

    @Test
    @Clause({"O-5", "E-3"})
    void poll_ofThePipe_refused_isTheOutcome() {
        Pipe pipe = keep(Pipe.open());
        Operation splice = operations.spliceToPipe(withText(), pipe.writer(), 16, note("splice"));
        plan.fail("splice", Errno.EAGAIN);
        plan.fail("poll", Errno.ENOMEM);
        splice.start();
        runUntilDone(splice);
        assertThat(completed).containsExactly("splice ENOMEM");
    }

    @Test
    @Clause({"O-5", "O-7"})
    void close_ofAFile_refused_isToldAndTheNumberIsFree() {
        Descriptor file = file();
        plan.fail("close(file)", Errno.EIO);
        Operation close = operations.close(file, note("close")).start();
        runUntilDone(close);
        assertThat(completed).containsExactly("close EIO");
        assertThat(file.isOpen()).isFalse();
    }

    // ------------------------------------------------------------------ interruptions

    @ParameterizedTest
    @ValueSource(
            strings = {
                "recv", "send", "readv", "writev", "recvmsg", "sendmsg", "accept4", "getsockopt",
                "getpeername", "sendfile", "splice", "read", "write", "open", "pread", "pwrite",
                "fsync", "fdatasync", "statx"
            })
    @Clause("O-5")
    void call_interrupted_isMadeAgain(String call) {
        Operation operation = operationOf(call);
        long before = plan.count(call);
        plan.fail(call, Errno.EINTR, 3);
        operation.start();
        runUntilDone(operation);
        assertThat(completed).containsExactly(successOf(call));
        assertThat(plan.count(call) - before).isEqualTo(4);
    }

    @Test
    @Clause("O-5")
    void poll_interrupted_isMadeAgain() {
        Operation splice = operationOf("splice");
        plan.fail("splice", Errno.EAGAIN);
        plan.fail("poll", Errno.EINTR);
        splice.start();
        runUntilDone(splice);
        assertThat(completed).containsExactly("splice 6");
    }

    @Test
    @Clause("O-5")
    void close_ofAFile_interrupted_isNotMadeAgain() {
        Descriptor file = file();
        plan.fail("close(file)", Errno.EINTR);
        Operation close = operations.close(file, note("close")).start();
        runUntilDone(close);
        assertThat(completed).containsExactly("close 0");
        assertThat(plan.count("close(file)")).as("the number may be another's").isEqualTo(1);
    }

    @Test
    @Clause({"O-5", "E-3"})
    void accept_whosePeersHangUp_triesTheNext() {
        Operation accept = operationOf("accept4");
        plan.fail("accept4", Errno.ECONNABORTED, 10);
        accept.start();
        runUntilDone(accept);
        assertThat(completed).containsExactly("accept4 ok");
    }

    // ------------------------------------------------------------------ short counts

    @ParameterizedTest
    @ValueSource(strings = {"send", "writev", "sendfile", "pwrite"})
    @Clause("O-1")
    void write_takenByteByByte_goesOnUntilAllIsGone(String call) {
        Operation operation = operationOf(call);
        for (int i = 0; i < 5; i++) {
            plan.answer(call, FaultySockets.atMost(1));
        }
        operation.start();
        runUntilDone(operation);
        assertThat(completed).containsExactly(call + " 6");
        assertThat(operation.transferred()).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(strings = {"send", "writev", "pwrite"})
    @Clause({"O-1", "E-1"})
    void write_thatTakesNothing_failsInsteadOfTryingForEver(String call) {
        Operation operation = operationOf(call);
        plan.answer(call, FaultySockets.atMost(2));
        plan.answer(call, FaultySockets.atMost(0));
        operation.start();
        runUntilDone(operation);
        assertThat(completed).containsExactly(call + " EIO");
        assertThat(operation.transferred()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"send", "writev", "sendfile"})
    @Clause({"O-1", "O-5"})
    void write_thatFailsHalfway_saysHowFarItCame(String call) {
        Operation operation = operationOf(call);
        plan.answer(call, FaultySockets.atMost(2));
        plan.fail(call, Errno.EINTR);
        plan.answer(call, FaultySockets.atMost(1));
        plan.fail(call, Errno.ECONNRESET);
        operation.start();
        runUntilDone(operation);
        assertThat(completed).containsExactly(call + " ECONNRESET");
        assertThat(operation.transferred()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"recv", "readv", "pread", "splice"})
    @Clause("O-1")
    void read_cutShort_completesWithWhatCame(String call) {
        Operation operation = operationOf(call);
        plan.answer(call, FaultySockets.atMost(2));
        operation.start();
        runUntilDone(operation);
        assertThat(completed).containsExactly(call + " 2");
    }

    // ------------------------------------------------------------------ before the first call

    @Test
    @Clause({"O-8", "E-1"})
    void start_ofADescriptorThatBlocks_isRefusedAndLendsNothing() {
        Pipe pipe = keep(Pipe.open());
        Buffer buffer = Buffer.allocate(8);
        Descriptor blocking = keep(TestDescriptors.duplicate(pipe.reader()));
        assertThatThrownBy(() -> operations.read(file(), buffer, note("file")).start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is blocking");
        TestDescriptors.write(pipe.writer(), TEXT);
        Operation read = operations.read(blocking, buffer, note("read")).start();
        runUntilDone(read);
        assertThat(completed).containsExactly("read 6");
    }
}
