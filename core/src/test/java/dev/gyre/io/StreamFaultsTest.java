package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.io.TestDescriptors;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultySockets;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

/// Streams whose calls fail in the middle, over epoll.
@On("epoll")
class StreamFaultsTest extends FaultFixture {
    private static final int PIECE = 20_000;

    private Stream server;
    private Stream client;
    private final StringBuilder arrived = new StringBuilder();

    private void connect() {
        List<Stream> accepted = new ArrayList<>();
        Listener listener =
                keep(Listener.on(loop, anyPort(), ListenerConfig.DEFAULT, accepted::add));
        List<Stream> connected = new ArrayList<>();
        Stream.connect(loop, listener.address()).then(connected::add);
        runUntil("connected", () -> accepted.size() == 1 && connected.size() == 1);
        server = accepted.getFirst();
        client = connected.getFirst();
        client.onData(data -> arrived.append(data.getText(US_ASCII)));
    }

    private void disconnect() {
        client.abort();
        server.abort();
    }

    // ------------------------------------------------------------------ shortages

    @ParameterizedTest
    @CsvSource({"send, 105", "send, 12", "writev, 105", "writev, 12"})
    @Clause({"N-2", "E-3"})
    void shortage_inTheMiddleOfAWrite_countsWhatIsSentAndSendsTheRestOnce(String call, int errno) {
        connect();
        // More than one piece of memory leaves by writev, one by send.
        String text = "0123456789".repeat(call.equals("send") ? 100 : PIECE / 10);
        plan.answer(call, FaultySockets.atMost(700)).fail(call, errno);
        server.write(text);
        Promise<?> flushed = server.flushed();
        runUntil("a part is sent", () -> server.sent() > 0);
        assertThat(server.sent())
                .as("what the kernel has taken before it was short")
                .isEqualTo(700);
        assertThat(server.pending()).isEqualTo(text.length() - 700);
        assertThat(flushed.isSettled()).isFalse();
        runUntil("all of it", () -> arrived.length() >= text.length());
        settle();
        assertThat(arrived).as("each byte once and in order").hasToString(text);
        assertThat(server.sent()).isEqualTo(text.length());
        assertThat(flushed.isSettled()).isTrue();
        disconnect();
    }

    @Test
    @Clause({"N-2", "E-3"})
    void shortage_inTheMiddleOfAFile_countsWhatIsSentAndSendsTheRestOnce() {
        connect();
        Descriptor file = file();
        plan.answer("sendfile", FaultySockets.atMost(2)).fail("sendfile", Errno.ENOBUFS);
        Promise<Long> sent = server.sendFile(file, 0, TEXT.length());
        server.write("!");
        runUntil("a part is sent", () -> server.sent() > 0);
        assertThat(server.sent()).isEqualTo(2);
        runUntil("all of it", () -> arrived.length() > TEXT.length());
        assertThat(arrived).hasToString(TEXT + "!");
        assertThat(sent.outcome()).isEqualTo(new Outcome.Resolved<>((long) TEXT.length()));
        assertThat(server.sent()).isEqualTo(TEXT.length() + 1);
        disconnect();
    }

    // ------------------------------------------------------------------ spurious would-block

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    @Clause({"O-4", "N-2"})
    void recv_thatWouldBlockAfterAnEvent_isTriedAgain(int times) {
        connect();
        settle();
        plan.fail("recv", Errno.EAGAIN, times);
        server.write("hello");
        runUntil("it arrives", () -> arrived.toString().equals("hello"));
        disconnect();
    }

    @Test
    @Clause("O-4")
    void recv_thatWouldBlockBehindAFullBuffer_isTriedAgain() {
        List<Descriptor> pair = keptPair();
        Operation first = operations.read(pair.get(1), Buffer.allocate(3), note("first"));
        first.start();
        settle();
        TestDescriptors.write(pair.get(0), TEXT);
        runUntilDone(first);
        plan.fail("recv", Errno.EAGAIN);
        Operation second = operations.read(pair.get(1), Buffer.allocate(3), note("second"));
        second.start();
        runUntilDone(second);
        assertThat(completed).containsExactly("first 3", "second 3");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    @Clause({"O-4", "N-2"})
    void writev_thatWouldBlockAfterAnEvent_isTriedAgain(int times) {
        connect();
        client.pause();
        int bytes = 8 << 20;
        server.write("x".repeat(bytes));
        settle();
        assertThat(server.outputState()).isEqualTo(OutputState.BACKPRESSURED);
        plan.fail("writev", Errno.EAGAIN, times);
        client.resume();
        runUntil("all of it", () -> arrived.length() == bytes);
        disconnect();
    }

    @Test
    @Clause({"O-4", "N-2"})
    void send_thatWouldBlockThoughThereIsRoom_isTriedAgain() {
        connect();
        plan.fail("send", Errno.EAGAIN);
        server.write("a"); // From here on the kernel reports writability.
        runUntil("the first", () -> arrived.length() == 1);
        settle();
        plan.fail("send", Errno.EAGAIN);
        server.write("b");
        runUntil("the second", () -> arrived.length() == 2);
        disconnect();
    }

    @Test
    @Clause({"O-4", "N-1"})
    void accept_thatWouldBlockAfterAnEvent_isTriedAgain() {
        plan.fail("accept4", Errno.EAGAIN, 2); // Also the one before anybody has come.
        connect();
        disconnect();
    }

    @Test
    @Clause({"O-4", "B-7"})
    void requestsAndResponses_withoutSpuriousBlocks_changeNoInterest() {
        connect();
        server.onData(server::write);
        client.write("0");
        runUntil("warm", () -> arrived.length() == 1);
        settle();
        long before = plan.count("epoll_ctl");
        for (int i = 1; i < 50; i++) {
            int length = i + 1;
            client.write("x");
            runUntil("echoed", () -> arrived.length() == length);
        }
        assertThat(plan.count("epoll_ctl")).as("changes of interest").isEqualTo(before);
        disconnect();
    }

    // ------------------------------------------------------------------ in one packet

    @Test
    @Clause("N-2")
    void bytes_thatAFileFollows_waitForItInTheKernel_andOthersDoNot() {
        connect();
        Descriptor file = file();
        server.write("head ");
        server.sendFile(file, 0, TEXT.length());
        runUntil("both are there", () -> arrived.length() == 5 + TEXT.length());
        assertThat(arrived).hasToString("head " + TEXT);
        assertThat(plan.count("MSG_MORE")).as("sent with the file").isEqualTo(1);
        server.write("alone");
        settle();
        server.write(", or with nothing of a file");
        server.sendFile(file, 0, 0);
        runUntil("these are too", () -> arrived.toString().endsWith("of a file"));
        assertThat(plan.count("MSG_MORE")).as("nothing follows these").isEqualTo(1);
        disconnect();
    }

    // ------------------------------------------------------------------ the seam

    @ParameterizedTest
    @ValueSource(strings = {"socket", "setsockopt", "bind", "listen"})
    @Clause({"B-7", "E-1"})
    void listeningSocket_madeOnALoop_isMadeThroughItsSeam(String call) {
        plan.fail(call, Errno.ENOBUFS);
        assertThatThrownBy(() -> Sockets.listen(loop, anyPort()))
                .as("%s goes past the seam that the backend was opened with", call)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENOBUFS");
    }

    @Test
    @Clause({"B-7", "E-1"})
    void pair_madeOnALoop_isMadeThroughItsSeam() {
        plan.fail("socketpair", Errno.EMFILE);
        assertThatThrownBy(() -> Sockets.pair(loop))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EMFILE");
    }

    @Test
    @Clause("B-7")
    void end_ofAStream_isMadeThroughTheSeam() {
        connect();
        client.end();
        runUntil("ended", () -> plan.count("shutdown") == 1);
        disconnect();
    }
}
