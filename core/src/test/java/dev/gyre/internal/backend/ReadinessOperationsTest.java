package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.Syscalls;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Requests over a kernel whose every word is scripted: which calls are made, what is armed, and in
/// which order requests complete. Epoll stands for all kernels that it serves.
@On("epoll")
class ReadinessOperationsTest {
    private static final int FD = 5;
    private static final int LENGTH = 8;
    private static final int EDGE = Readiness.EDGE | Readiness.END;

    /// By the name of a call, what it returns next; else that it would block.
    private final Map<String, Deque<Long>> results = new HashMap<>();

    private final List<String> calls = new ArrayList<>();
    private final List<String> armed = new ArrayList<>();
    private final Map<Request, String> names = new HashMap<>();
    private int socketError;
    private int armingErrno;
    private ReadinessOperations operations;
    private DescriptorState socket;

    @BeforeEach
    void open() {
        open(4, Traits.TCP);
    }

    private void open(int receiveBuffers, int traits) {
        LoopConfig config = LoopConfig.DEFAULT.withReceiveBuffers(receiveBuffers, 4_096);
        LoopContext host =
                new TestLoopContext(config) {
                    @Override
                    public boolean trySubmitPriority(Runnable task) {
                        throw new AssertionError("no files here");
                    }
                };
        InvocationHandler kernel = (_, method, arguments) -> call(method.getName(), arguments);
        PollSyscalls files = as(PollSyscalls.class, kernel);
        SocketCalls sockets = as(SocketCalls.class, kernel);
        FileCalls none = as(FileCalls.class, kernel);
        Backend backend =
                as(
                        Backend.class,
                        (_, method, arguments) -> {
                            boolean off = method.getName().equals("deregister");
                            armed.add(method.getName() + (off ? "" : " " + arguments[1]));
                            if (armingErrno != 0 && !off) {
                                throw new SystemCallException("epoll_ctl", armingErrno, FD);
                            }
                            return null;
                        });
        operations =
                new ReadinessOperations(
                        backend, new Syscalls(() -> files, () -> sockets, () -> none), host);
        socket = operations.open(FD, traits);
    }

    private static <T> T as(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Object call(String name, Object[] arguments) {
        if (name.equals("getsockopt")) {
            Memory.putInt((long) arguments[3], socketError);
            calls.add("error");
            return 0;
        }
        boolean urgent = name.equals("recv") && ((int) arguments[3] & Linux.MSG_OOB) != 0;
        String known = urgent ? "urgent" : name;
        calls.add(known);
        Deque<Long> scripted = results.getOrDefault(known, new ArrayDeque<>());
        long result = scripted.isEmpty() ? -Errno.EAGAIN : scripted.remove();
        return name.equals("accept4") ? (Object) (int) result : (Object) result;
    }

    private void returns(String call, long... scripted) {
        Deque<Long> queue = results.computeIfAbsent(call, _ -> new ArrayDeque<>());
        for (long result : scripted) {
            queue.add(result);
        }
    }

    private Request request(Opcode opcode, String name) {
        Request request = new Request(_ -> {});
        request.opcode = opcode;
        request.length = LENGTH;
        names.put(request, name);
        return request;
    }

    private Request start(Opcode opcode, String name) {
        Request request = request(opcode, name);
        operations.start(socket, request);
        return request;
    }

    private Request startEach(String name) {
        Request request = request(Opcode.RECEIVE, name);
        request.multishot = true;
        operations.start(socket, request);
        return request;
    }

    /// What is through, in order, and is taken.
    private List<String> completed() {
        List<String> all = new ArrayList<>();
        for (Request done = operations.pollCompleted(); done != null; ) {
            long result = done.result;
            String outcome = result < 0 ? Errno.name((int) -result) : Long.toString(result);
            all.add(names.get(done) + " " + outcome + (done.more ? " more" : ""));
            done = operations.pollCompleted();
        }
        return all;
    }

    // ------------------------------------------------------------------ serving

    @Test
    @Clause({"O-2", "O-4"})
    void reads_queuedForOneArrival_areServedByOneEventUntilItBlocks() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ, "third");
        assertThat(calls).as("the others wait behind the first").containsExactly("recv");
        operations.flush();
        assertThat(armed).containsExactly("register " + (Readiness.READ | EDGE));
        returns("recv", LENGTH, LENGTH);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("first 8", "second 8");
        assertThat(operations.outstanding()).isEqualTo(1);
        assertThat(calls).as("until it would block").hasSize(4);
        returns("recv", 3, LENGTH);
        start(Opcode.READ, "fourth");
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).as("a short read has emptied it").containsExactly("third 3");
        assertThat(calls).hasSize(5);
    }

    @Test
    @Clause("O-4")
    void read_ofLessThanWasAskedFor_isTriedAgainWhereThatSaysNothing() {
        returns("recv", 3);
        start(Opcode.READ, "short");
        start(Opcode.READ, "behind");
        assertThat(calls).as("TCP: known to block").hasSize(1);
        operations.onReady(socket, Readiness.READ | Readiness.END);
        assertThat(calls).hasSize(2);
        returns("recv", 3, 0);
        operations.onReady(socket, Readiness.READ | Readiness.END);
        start(Opcode.READ, "end");
        assertThat(calls).as("the end is behind it, and no edge comes for it").hasSize(4);
        assertThat(completed()).containsExactly("short 3", "behind 3", "end 0");

        open(4, Traits.SOCKET | Traits.STREAM);
        calls.clear();
        returns("recv", 3);
        start(Opcode.READ, "short");
        start(Opcode.READ, "behind");
        assertThat(calls).as("others stop short for other reasons").hasSize(2);
    }

    @Test
    @Clause("O-5")
    void read_thatFails_endsNoOther() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ, "third");
        start(Opcode.WRITE, "write");
        returns("recv", -Errno.EIO, LENGTH);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("first EIO", "second 8");
        assertThat(operations.outstanding()).isEqualTo(2);
    }

    @Test
    @Clause("O-5")
    void read_thatFailsAfterAnErrorWasReported_endsAll() {
        start(Opcode.WRITE, "write");
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ_URGENT, "urgent");
        socketError = 0;
        returns("recv", -Errno.ECONNRESET);
        operations.onReady(socket, Readiness.READ | Readiness.ERROR);
        assertThat(completed())
                .containsExactly(
                        "urgent 0", "first ECONNRESET", "second ECONNRESET", "write ECONNRESET");
    }

    @Test
    @Clause("O-5")
    void error_thatTheKernelReportsInPlaceOfReadiness_endsAllAndArmsTheNextAnew() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        operations.flush();
        armed.clear();
        calls.clear();
        operations.onReady(socket, Readiness.READ | Readiness.error(Errno.ENOMEM));
        assertThat(completed()).containsExactly("read ENOMEM", "write ENOMEM");
        assertThat(calls).as("nothing was tried").isEmpty();
        start(Opcode.READ, "next");
        assertThat(calls).as("not known to block").containsExactly("recv");
        operations.flush();
        assertThat(armed).containsExactly("modify " + (Readiness.READ | EDGE));
    }

    @Test
    @Clause({"O-2", "O-4"})
    void readiness_ofOneKind_servesThatKindAndWaitingUrgentDataOnly() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        Map<Integer, String> served =
                Map.of(Readiness.READ, "recv", Readiness.END, "recv", Readiness.WRITE, "send");
        served.forEach(
                (ready, call) -> {
                    calls.clear();
                    operations.onReady(socket, ready);
                    assertThat(calls).as("readiness %d", ready).containsExactly(call);
                });
        start(Opcode.READ_URGENT, "urgent");
        served.forEach(
                (ready, call) -> {
                    calls.clear();
                    operations.onReady(socket, ready);
                    assertThat(calls).as("readiness %d", ready).containsExactly("urgent", call);
                });
        calls.clear();
        operations.onReady(socket, Readiness.URGENT);
        assertThat(calls).containsExactly("urgent");
        assertThat(completed()).isEmpty();
    }

    @Test
    @Clause({"O-5", "E-2"})
    void end_isFoundByEveryReadAndIsNoError() {
        returns("recv", 0, 0);
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        assertThat(completed()).containsExactly("first 0", "second 0");
        start(Opcode.READ, "third");
        start(Opcode.WRITE, "write");
        returns("recv", 0);
        operations.onReady(socket, Readiness.READ | Readiness.ERROR);
        assertThat(completed()).containsExactly("third 0");
        assertThat(operations.outstanding()).as("the write waits on").isEqualTo(1);
    }

    // ------------------------------------------------------------------ urgent data

    @Test
    @Clause("O-2")
    void urgentData_thatIsReadyWithOther_isServedFirst() {
        start(Opcode.READ, "read");
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        returns("recv", LENGTH);
        returns("urgent", 1);
        returns("send", LENGTH);
        operations.onReady(socket, Readiness.READ | Readiness.WRITE | Readiness.URGENT);
        assertThat(completed()).containsExactly("urgent 1", "read 8", "write 8");
    }

    @Test
    @Clause("O-2")
    void urgentData_thatIsWaitedFor_isTriedBeforeARead() {
        start(Opcode.READ_URGENT, "urgent");
        returns("urgent", 1);
        returns("recv", LENGTH);
        start(Opcode.READ, "read");
        assertThat(completed()).containsExactly("urgent 1", "read 8");
        calls.clear();
        start(Opcode.READ, "read");
        assertThat(calls).as("no operation waits for urgent data").containsExactly("recv");
    }

    @Test
    @Clause({"O-2", "O-5"})
    void hangUp_endsTheWaitForUrgentDataWithTheSocketsError() {
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        socketError = Errno.ECONNRESET;
        operations.onReady(socket, Readiness.HANGUP);
        assertThat(completed()).containsExactly("urgent ECONNRESET", "write ECONNRESET");
        calls.clear();
        operations.onReady(socket, Readiness.HANGUP);
        assertThat(calls).as("no operation waits").doesNotContain("error");
    }

    @Test
    @Clause({"O-2", "O-5"})
    void hangUp_withoutAnError_endsTheWaitForUrgentDataOnly() {
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        operations.onReady(socket, Readiness.HANGUP);
        assertThat(completed()).containsExactly("urgent 0");
        assertThat(operations.outstanding()).isEqualTo(1);
    }

    // ------------------------------------------------------------------ interest

    @Test
    @Clause("O-4")
    void readiness_thatNobodyWaitsFor_isDroppedTheSecondTimeAndAskedForAgain() {
        start(Opcode.READ, "read");
        operations.flush();
        returns("recv", LENGTH);
        operations.onReady(socket, Readiness.READ);
        armed.clear();
        operations.onReady(socket, Readiness.READ);
        operations.flush();
        assertThat(armed).as("once may be by chance").isEmpty();
        operations.onReady(socket, Readiness.READ);
        operations.flush();
        assertThat(armed).containsExactly("modify 0");
        operations.onReady(socket, Readiness.READ);
        operations.flush();
        assertThat(armed).hasSize(1);
        start(Opcode.READ, "again");
        operations.flush();
        assertThat(armed).containsExactly("modify 0", "modify " + (Readiness.READ | EDGE));
        assertThat(completed()).containsExactly("read 8");
    }

    @Test
    @Clause("O-4")
    void readiness_thatWasWaitedForInBetween_keepsItsInterest() {
        start(Opcode.READ, "first");
        operations.flush();
        armed.clear();
        for (int i = 0; i < 5; i++) {
            returns("recv", LENGTH);
            operations.onReady(socket, Readiness.READ);
            operations.onReady(socket, Readiness.READ); // No operation waits.
            operations.flush();
            returns("recv", -Errno.EAGAIN);
            start(Opcode.READ, "next");
            operations.flush();
        }
        // The call blocks although readiness was reported, so the same interest is armed again.
        int reading = Readiness.READ | Readiness.END | EDGE;
        assertThat(armed).containsOnly("modify " + reading);
    }

    @Test
    @Clause("O-4")
    void interests_ofOneTick_areArmedTogether() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        start(Opcode.READ_URGENT, "urgent");
        assertThat(armed).isEmpty();
        operations.flush();
        operations.flush();
        int all = Readiness.READ | Readiness.WRITE | Readiness.URGENT;
        assertThat(armed).containsExactly("register " + (all | EDGE));
    }

    @Test
    @Clause({"O-5", "E-1"})
    void interest_thatIsRefused_endsWhatWaitsAndIsAskedForAgain() {
        armingErrno = Errno.ENOMEM;
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        operations.flush();
        assertThat(completed()).containsExactly("read ENOMEM", "write ENOMEM");
        armingErrno = 0;
        start(Opcode.READ, "again");
        operations.flush();
        assertThat(armed).last().isEqualTo("register " + (Readiness.READ | EDGE));
    }

    // ------------------------------------------------------------------ cancelling and closing

    @Test
    @Clause("O-6")
    void cancelAll_ofReadsOnly_leavesWritesAndUrgentData() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        operations.cancelAll(socket, null, Kind.READ.bit);
        assertThat(completed()).containsExactly("first ECANCELED", "second ECANCELED");
        operations.cancelAll(socket, null, Kind.URGENT.bit);
        assertThat(completed()).containsExactly("urgent ECANCELED");
        operations.cancelAll(socket, null, Kind.WRITE.bit);
        assertThat(completed()).containsExactly("write ECANCELED");
    }

    @Test
    @Clause("O-6")
    void cancelAll_byKeyAndKind_reachesAMultishotThatItsOwnerHas() {
        for (int kind : new int[] {Kind.WRITE.bit, Kind.READ.bit}) {
            for (String key : new String[] {"other", "key"}) {
                open(4, Traits.TCP);
                returns("recv", 3);
                Request each = request(Opcode.RECEIVE, "each");
                each.multishot = true;
                each.key = "key";
                operations.start(socket, each);
                assertThat(completed()).containsExactly("each 3 more");
                operations.cancelAll(socket, key, kind);
                operations.resume(each);
                boolean cancelled = kind == Kind.READ.bit && key.equals("key");
                assertThat(completed())
                        .isEqualTo(cancelled ? List.of("each ECANCELED") : List.of());
                results.clear();
            }
        }
    }

    @Test
    @Clause("O-6")
    void cancel_ofWhatIsThrough_changesNothing() {
        returns("recv", LENGTH);
        Request read = start(Opcode.READ, "read");
        operations.cancel(read);
        assertThat(completed()).containsExactly("read 8");
        operations.cancel(read);
        assertThat(read.cancelRequested).isFalse();
        operations.start(socket, read);
        operations.cancel(read);
        assertThat(completed()).containsExactly("read ECANCELED");
    }

    @Test
    @Clause({"O-6", "O-7"})
    void cancel_ofAMultishotBetweenTwoCompletions_endsItWhenItIsResumed() {
        returns("recv", 3, 3);
        Request each = startEach("each");
        operations.cancel(each); // Posted, not handed out.
        assertThat(completed()).containsExactly("each 3 more");
        operations.resume(each);
        assertThat(completed()).containsExactly("each ECANCELED");
        assertThat(operations.outstanding()).isZero();
    }

    @Test
    @Clause("O-7")
    void close_cancelsInOrderDeregistersAndSaysSo() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        operations.flush();
        armed.clear();
        boolean[] released = {false};
        operations.close(socket, () -> released[0] = true);
        // A duplicate of the number would keep the kernel's registration alive.
        assertThat(armed).containsExactly("deregister");
        assertThat(released[0]).isTrue();
        assertThat(completed()).containsExactly("read ECANCELED", "write ECANCELED");
        operations.flush();
        assertThat(armed).hasSize(1);
    }

    @Test
    @Clause("O-7")
    void close_ofWhatWasNeverArmed_asksNothingOfTheKernel() {
        start(Opcode.READ, "read");
        operations.close(socket, () -> {});
        assertThat(completed()).containsExactly("read ECANCELED");
        DescriptorState other = operations.open(FD + 1, Traits.TCP);
        assertThat(other).as("it is in a list still").isNotSameAs(socket);
        operations.flush();
        operations.flush();
        assertThat(armed).isEmpty();
        assertThat(operations.open(FD + 2, Traits.TCP)).isSameAs(socket);
        assertThat(operations.open(FD + 3, Traits.TCP)).as("once").isNotSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_ofWhatIsIdle_makesTheStateAvailableAtOnce() {
        operations.close(socket, () -> {});
        assertThat(operations.open(FD + 1, Traits.TCP)).isSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_whileABufferIsWaitedFor_makesTheStateAvailableWhenOneComesBack() {
        open(1, Traits.TCP);
        int taken = operations.buffers().acquire();
        start(Opcode.RECEIVE, "receive");
        operations.flush();
        operations.close(socket, () -> {});
        assertThat(completed()).containsExactly("receive ECANCELED");
        assertThat(operations.open(FD + 1, Traits.TCP)).isNotSameAs(socket);
        calls.clear();
        operations.releaseBuffer(taken);
        operations.flush();
        assertThat(calls).isEmpty();
        assertThat(operations.open(FD + 2, Traits.TCP)).isSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_makesTheStateAvailableOnceNothingRefersToIt() {
        returns("recv", 3);
        Request each = startEach("each");
        assertThat(completed()).containsExactly("each 3 more");
        operations.close(socket, () -> {});
        DescriptorState other = operations.open(FD + 1, Traits.TCP);
        assertThat(other).as("its owner has the multishot still").isNotSameAs(socket);
        operations.resume(each);
        assertThat(completed()).containsExactly("each ECANCELED");
        assertThat(operations.open(FD + 2, Traits.TCP)).isSameAs(socket);
        assertThat(operations.open(FD + 3, Traits.TCP)).isNotSameAs(socket);
    }

    // ------------------------------------------------------------------ the loop's buffers

    @Test
    @Clause("O-8")
    void receive_takesABufferOnlyForWhatArrives() {
        start(Opcode.RECEIVE, "receive");
        assertThat(operations.buffers().available()).isEqualTo(4);
        returns("recv", 5);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("receive 5");
        assertThat(operations.buffers().available()).isEqualTo(3);
        calls.clear();
        start(Opcode.RECEIVE, "next");
        assertThat(calls).as("a short one has emptied it").isEmpty();
        returns("recv", -Errno.EIO);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("next EIO");
        assertThat(operations.buffers().available()).isEqualTo(3);
    }

    @Test
    @Clause("O-8")
    void receive_ofAFullBufferOrBeforeAnEnd_isFollowedByAnotherTry() {
        returns("recv", 4_096, 3);
        start(Opcode.RECEIVE, "full");
        start(Opcode.RECEIVE, "rest");
        assertThat(calls).hasSize(2);
        start(Opcode.RECEIVE, "blocked");
        assertThat(calls).hasSize(2);
        returns("recv", 3);
        operations.onReady(socket, Readiness.READ | Readiness.END);
        returns("recv", 0);
        start(Opcode.RECEIVE, "end");
        assertThat(completed()).containsExactly("full 4096", "rest 3", "blocked 3", "end 0");
    }

    @Test
    @Clause({"O-8", "E-3"})
    void receive_withoutABuffer_goesOnWhenOneComesBack() {
        open(1, Traits.TCP);
        returns("recv", 3);
        Request first = start(Opcode.RECEIVE, "first");
        assertThat(completed()).containsExactly("first 3");
        operations.onReady(socket, Readiness.READ);
        calls.clear();
        start(Opcode.RECEIVE, "second");
        operations.flush();
        assertThat(calls).as("nothing to receive into").isEmpty();
        operations.releaseBuffer(first.buffer);
        returns("recv", 4);
        operations.flush();
        assertThat(completed()).containsExactly("second 4");
        operations.flush();
        assertThat(calls).hasSize(1);
    }

    @Test
    @Clause({"O-8", "E-3"})
    void receives_thatShareOneBuffer_getItInTurn() {
        open(1, Traits.TCP);
        int taken = operations.buffers().acquire();
        DescriptorState other = operations.open(FD + 1, Traits.TCP);
        Request first = start(Opcode.RECEIVE, "first");
        Request second = request(Opcode.RECEIVE, "second");
        operations.start(other, second);
        returns("recv", 3, 4);
        operations.releaseBuffer(taken);
        operations.flush();
        assertThat(completed()).containsExactly("first 3");
        operations.flush();
        assertThat(completed()).as("there is no buffer for the other").isEmpty();
        operations.releaseBuffer(first.buffer);
        operations.flush();
        assertThat(completed()).containsExactly("second 4");
    }

    @Test
    @Clause("O-8")
    void receive_thatWouldBlockOrEnds_keepsNoBufferAndIsRemembered() {
        Request blocked = start(Opcode.RECEIVE, "blocked");
        operations.cancel(blocked);
        start(Opcode.RECEIVE, "next");
        assertThat(calls).as("known to block").hasSize(1);
        returns("recv", 0, 0);
        operations.onReady(socket, Readiness.READ);
        start(Opcode.RECEIVE, "again");
        assertThat(completed()).containsExactly("blocked ECANCELED", "next 0", "again 0");
        assertThat(operations.buffers().available()).isEqualTo(4);

        open(4, Traits.SOCKET | Traits.STREAM);
        calls.clear();
        returns("recv", 3);
        start(Opcode.RECEIVE, "short");
        start(Opcode.RECEIVE, "behind");
        assertThat(calls).as("not of TCP: less says nothing").hasSize(2);
    }

    // ------------------------------------------------------------------ multishots

    @Test
    @Clause({"O-1", "O-9"})
    void multishot_goesOnUntilTheEndOfTheStream() {
        returns("recv", 4_096, 0);
        Request each = startEach("each");
        assertThat(completed()).containsExactly("each 4096 more");
        assertThat(socket.delivered()).containsExactly(each);
        operations.resume(each);
        assertThat(socket.delivered()).isEmpty();
        assertThat(completed()).containsExactly("each 0");
        assertThat(operations.outstanding()).isZero();
        assertThat(operations.completedCount()).isEqualTo(1);
    }

    @Test
    @Clause({"O-1", "O-9"})
    void multishotAccept_whoseDescriptorHasNumberZero_goesOn() {
        returns("accept4", 0);
        Request each = request(Opcode.ACCEPT, "each");
        each.multishot = true;
        operations.start(socket, each);
        assertThat(completed()).containsExactly("each 0 more");
        operations.resume(each);
        assertThat(operations.outstanding()).isEqualTo(1);
        returns("accept4", -Errno.EMFILE);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("each EMFILE");
    }

    @Test
    @Clause({"O-3", "O-9"})
    void hasCompleted_isTrueUntilAllAreTaken() {
        assertThat(operations.hasCompleted()).isFalse();
        returns("recv", LENGTH);
        start(Opcode.READ, "read");
        assertThat(operations.hasCompleted()).isTrue();
        assertThat(operations.outstanding()).isEqualTo(1);
        completed();
        assertThat(operations.hasCompleted()).isFalse();
        assertThat(operations.outstanding()).isZero();
    }
}
