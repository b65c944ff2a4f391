package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxSocketCalls;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Those that need a real kernel: real limits, and urgent data.
abstract class KernelHardshipContract extends HardshipContract {
    private static final int MOST_PEERS = 16;

    @Test
    @Clause({"O-5", "E-3"})
    void accept_outOfDescriptors_isToldOnceAndGoesOnWhenStartedAgain() {
        Descriptor listener = Sockets.listen(loop, anyPort());
        SocketAddress address = Sockets.localAddress(loop, listener);
        List<Descriptor> accepted = new ArrayList<>();
        long[] results = new long[8];
        int[] ended = {0};
        AcceptOperation accept =
                operations.acceptEach(
                        listener,
                        op -> {
                            if (op.result() >= 0) {
                                accepted.add(op.accepted());
                            } else {
                                results[ended[0]++] = op.result();
                            }
                        });
        accept.start();
        List<Descriptor> peers = new ArrayList<>();
        List<Operation> connects = new ArrayList<>();
        for (int i = 0; i < MOST_PEERS; i++) {
            Descriptor peer = Sockets.stream(loop, address);
            peers.add(peer);
            connects.add(operations.connect(peer, address, op -> {}));
        }
        connects.getFirst().start();
        runUntil("one accepted, and all classes loaded", () -> accepted.size() == 1);
        int[] let = {1};
        // Made while a class can still be read.
        BooleanSupplier toldOrLetIn = () -> ended[0] > 0 || accepted.size() > let[0];
        LinuxPollCalls kernel = new LinuxPollCalls();
        int[] taken = new int[1 << 20];
        int count = 0;
        long turns;
        try {
            // A number may come free meanwhile: another test's descriptor that nobody reaches any
            // more is closed when it is
            // found. Then somebody is let in, and the next one meets the limit.
            do {
                count = takeAllNumbers(kernel, listener.fd(), taken, count);
                let[0] = accepted.size();
                connects.get(let[0]).start();
                runUntil("told, or let in", toldOrLetIn);
            } while (ended[0] == 0);
            settle();
            turns = loop.metrics().ticks();
            settle();
            turns = loop.metrics().ticks() - turns;
        } finally {
            for (int i = 0; i < count; i++) {
                kernel.close(taken[i]);
            }
        }
        assertThat(ended[0]).as("told once").isEqualTo(1);
        assertThat(results[0]).isEqualTo(-Errno.EMFILE);
        assertThat(turns).as("turns that the test itself made").isLessThanOrEqualTo(6);
        assertThat(accept.isPending()).isFalse();
        accept.start();
        runUntil("it was there all the time", () -> accepted.size() > let[0]);
        send(peers.get(let[0]), "patient");
        assertThat(receive(accepted.get(let[0]))).isEqualTo("patient");
        accepted.forEach(Descriptor::close);
        peers.forEach(Descriptor::close);
        listener.close();
    }

    /// @return how many are taken, those from before among them
    private static int takeAllNumbers(LinuxPollCalls kernel, int like, int[] taken, int count) {
        for (int i = count; i < taken.length; i++) {
            taken[i] = kernel.fcntl(like, Linux.F_DUPFD_CLOEXEC, 0);
            if (taken[i] < 0) {
                return i;
            }
        }
        return taken.length;
    }

    @Test
    @Clause("O-4")
    void urgentByte_inTheMiddle_hidesNothingBehindIt() throws IOException {
        try (Descriptor listener = Sockets.listen(loop, anyPort());
                Socket peer = new Socket()) {
            Descriptor end = acceptOne(listener, peer);
            Operation idle = operations.read(end, Buffer.allocate(8), op -> {}).start();
            settle();
            peer.getOutputStream().write('0');
            runUntilDone(idle);
            peer.getOutputStream().write("abc".getBytes(US_ASCII));
            peer.sendUrgentData('!');
            peer.getOutputStream().write("def".getBytes(US_ASCII));
            settle();
            settle();
            StringBuilder text = new StringBuilder();
            while (text.length() < 6) {
                text.append(receive(end));
            }
            assertThat(text).hasToString("abcdef");
            end.close();
        }
    }

    @Test
    @Clause({"O-2", "O-4"})
    void read_behindOneForUrgentData_findsWhatIsThere() throws IOException {
        try (Descriptor listener = Sockets.listen(loop, anyPort());
                Socket peer = new Socket()) {
            Descriptor end = acceptOne(listener, peer);
            Operation urgent =
                    operations.readUrgent(end, Buffer.allocate(1), note("urgent")).start();
            Operation idle = operations.read(end, Buffer.allocate(8), op -> {}).start();
            settle();
            peer.getOutputStream().write('0');
            runUntilDone(idle);
            assertThat(urgent.cancel()).isTrue();
            runUntilDone(urgent);
            peer.getOutputStream().write("plain".getBytes(US_ASCII));
            settle();
            settle();
            urgent.start();
            assertThat(receive(end)).isEqualTo("plain");
            peer.sendUrgentData('!');
            runUntilDone(urgent);
            assertThat(completed).containsExactly("urgent cancelled", "urgent 1");
            end.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "true, true, true",
        "true, true, false",
        "true, false, true",
        "true, false, false",
        "false, true, true",
        "false, true, false",
        "false, false, true",
        "false, false, false"
    })
    @Clause("O-2")
    void urgentData_thatArrivedWithOtherData_completesBeforeTheRead(
            boolean multishot, boolean urgentFirst, boolean inOneRun) throws IOException {
        try (Descriptor listener = Sockets.listen(loop, anyPort());
                Socket peer = new Socket()) {
            Descriptor end = acceptOne(listener, peer);
            List<String> order = new ArrayList<>();
            Operation read =
                    multishot
                            ? operations.receive(end, op -> noteReceived(order, op))
                            : operations.read(end, Buffer.allocate(8), op -> order.add("abc"));
            Operation urgent =
                    operations.readUrgent(end, Buffer.allocate(1), op -> order.add("urgent"));
            if (urgentFirst) {
                urgent.start();
            }
            read.start();
            if (!urgentFirst) {
                urgent.start();
            }
            if (multishot) {
                // From here on the kernel continues by itself, if it does so at all.
                peer.getOutputStream().write('0');
                runUntil("the first byte", () -> !order.isEmpty());
                order.clear();
            }
            settle();
            if (inOneRun) {
                // Long after both were submitted.
                inTicks(3, () -> sendWithUrgent(peer, end));
                inTicks(20, loop::stop);
                loop.run();
            } else {
                sendWithUrgent(peer, end);
            }
            runUntil("both: " + order, () -> order.size() == 2);
            assertThat(order).containsExactly("urgent", "abc");
            read.cancel();
            settle();
            end.close();
        }
    }

    private static void noteReceived(List<String> order, ReceiveOperation receive) {
        if (receive.result() > 0) {
            order.add(receive.received().getText(US_ASCII));
        }
    }

    private void inTicks(int ticks, Runnable task) {
        loop.defer(
                () -> {
                    if (ticks == 0) {
                        task.run();
                    } else {
                        inTicks(ticks - 1, task);
                    }
                });
    }

    /// Sends three bytes and an urgent one, and waits until all of them have arrived.
    private static void sendWithUrgent(Socket peer, Descriptor end) {
        try {
            peer.getOutputStream().write("abc".getBytes(US_ASCII));
            peer.sendUrgentData('!');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int both = Linux.POLLIN | Linux.EPOLLPRI;
        LinuxSocketCalls calls = new LinuxSocketCalls();
        while ((calls.pollOne(end.fd(), both) & both) != both) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Clause({"O-2", "O-6"})
    void read_heldBackForUrgentDataThatIsCancelled_completes() throws IOException {
        try (Descriptor listener = Sockets.listen(loop, anyPort());
                Socket peer = new Socket()) {
            Descriptor end = acceptOne(listener, peer);
            Operation urgent =
                    operations.readUrgent(end, Buffer.allocate(1), note("urgent")).start();
            Operation read = operations.read(end, Buffer.allocate(8), note("read")).start();
            inTicks(
                    3,
                    () -> {
                        sendWithUrgent(peer, end);
                        assertThat(urgent.cancel()).isTrue();
                        inTicks(5, loop::stop);
                    });
            loop.run();
            runUntilDone(read);
            assertThat(completed).hasSize(2).contains("read 3");
            end.close();
        }
    }

    @Test
    @Clause({"O-2", "O-7"})
    void read_heldBackForUrgentData_endsWithItsDescriptor() throws IOException {
        try (Descriptor listener = Sockets.listen(loop, anyPort());
                Socket peer = new Socket()) {
            Descriptor end = acceptOne(listener, peer);
            ReceiveOperation read = operations.receive(end, op -> completed.add("read"));
            operations.readUrgent(end, Buffer.allocate(1), note("urgent")).start();
            read.start();
            inTicks(
                    3,
                    () -> {
                        sendWithUrgent(peer, end);
                        end.close();
                        inTicks(5, loop::stop);
                    });
            loop.run();
            runUntil("both are over", () -> loop.metrics().operations() == 0);
            assertThat(completed).contains("read");
        }
    }

    private Descriptor acceptOne(Descriptor listener, Socket peer) throws IOException {
        InetSocketAddress address = (InetSocketAddress) Sockets.localAddress(loop, listener);
        peer.connect(address);
        peer.setTcpNoDelay(true);
        List<Descriptor> accepted = new ArrayList<>();
        AcceptOperation accept = operations.accept(listener, op -> accepted.add(op.accepted()));
        accept.start();
        runUntilDone(accept);
        return accepted.getFirst();
    }
}
