package dev.gyre.internal.backend.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Interest;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Ready;
import dev.gyre.internal.backend.Request;
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
class ReactorTest {
    private static final int FD = 5;
    private static final int LENGTH = 8;
    private static final int EDGE = Interest.EDGE | Interest.END;

    /// By the name of a call, what it returns next; else that it would block.
    private final Map<String, Deque<Long>> results = new HashMap<>();

    private final List<String> calls = new ArrayList<>();
    private final List<String> armed = new ArrayList<>();
    private final Map<Request, String> names = new HashMap<>();
    private int socketError;
    private int armingErrno;
    private Reactor reactor;
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
        reactor = new Reactor(backend, new Syscalls(() -> files, () -> sockets, () -> none), host);
        socket = reactor.open(FD, traits);
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
        reactor.start(socket, request);
        return request;
    }

    private Request startEach(String name) {
        Request request = request(Opcode.RECEIVE, name);
        request.multishot = true;
        reactor.start(socket, request);
        return request;
    }

    /// What is through, in order, and is taken.
    private List<String> completed() {
        List<String> all = new ArrayList<>();
        for (Request done = reactor.takeCompleted(); done != null; ) {
            long result = done.result;
            String outcome = result < 0 ? Errno.name((int) -result) : Long.toString(result);
            all.add(names.get(done) + " " + outcome + (done.more ? " more" : ""));
            done = reactor.takeCompleted();
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
        reactor.flush();
        assertThat(armed).containsExactly("register " + (Interest.READ | EDGE));
        returns("recv", LENGTH, LENGTH);
        reactor.ready(socket, Ready.READABLE);
        assertThat(completed()).containsExactly("first 8", "second 8");
        assertThat(reactor.outstanding()).isEqualTo(1);
        assertThat(calls).as("until it would block").hasSize(4);
        returns("recv", 3, LENGTH);
        start(Opcode.READ, "fourth");
        reactor.ready(socket, Ready.READABLE);
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
        reactor.ready(socket, Ready.READABLE | Ready.END);
        assertThat(calls).hasSize(2);
        returns("recv", 3, 0);
        reactor.ready(socket, Ready.READABLE | Ready.END);
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
        reactor.ready(socket, Ready.READABLE);
        assertThat(completed()).containsExactly("first EIO", "second 8");
        assertThat(reactor.outstanding()).isEqualTo(2);
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
        reactor.ready(socket, Ready.READABLE | Ready.ERROR);
        assertThat(completed())
                .containsExactly(
                        "urgent 0", "first ECONNRESET", "second ECONNRESET", "write ECONNRESET");
    }

    @Test
    @Clause("O-5")
    void error_thatTheKernelReportsInPlaceOfReadiness_endsAllAndArmsTheNextAnew() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        reactor.flush();
        armed.clear();
        calls.clear();
        reactor.ready(socket, Ready.READABLE | Ready.error(Errno.ENOMEM));
        assertThat(completed()).containsExactly("read ENOMEM", "write ENOMEM");
        assertThat(calls).as("nothing was tried").isEmpty();
        start(Opcode.READ, "next");
        assertThat(calls).as("not known to block").containsExactly("recv");
        reactor.flush();
        assertThat(armed).containsExactly("modify " + (Interest.READ | EDGE));
    }

    @Test
    @Clause({"O-2", "O-4"})
    void readiness_ofOneKind_servesThatKindAndWaitingUrgentDataOnly() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        Map<Integer, String> served =
                Map.of(Ready.READABLE, "recv", Ready.END, "recv", Ready.WRITABLE, "send");
        served.forEach(
                (ready, call) -> {
                    calls.clear();
                    reactor.ready(socket, ready);
                    assertThat(calls).as("readiness %d", ready).containsExactly(call);
                });
        start(Opcode.READ_URGENT, "urgent");
        served.forEach(
                (ready, call) -> {
                    calls.clear();
                    reactor.ready(socket, ready);
                    assertThat(calls).as("readiness %d", ready).containsExactly("urgent", call);
                });
        calls.clear();
        reactor.ready(socket, Ready.URGENT);
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
        reactor.ready(socket, Ready.READABLE | Ready.ERROR);
        assertThat(completed()).containsExactly("third 0");
        assertThat(reactor.outstanding()).as("the write waits on").isEqualTo(1);
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
        reactor.ready(socket, Ready.READABLE | Ready.WRITABLE | Ready.URGENT);
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
        reactor.ready(socket, Ready.HANGUP);
        assertThat(completed()).containsExactly("urgent ECONNRESET", "write ECONNRESET");
        calls.clear();
        reactor.ready(socket, Ready.HANGUP);
        assertThat(calls).as("no operation waits").doesNotContain("error");
    }

    @Test
    @Clause({"O-2", "O-5"})
    void hangUp_withoutAnError_endsTheWaitForUrgentDataOnly() {
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        reactor.ready(socket, Ready.HANGUP);
        assertThat(completed()).containsExactly("urgent 0");
        assertThat(reactor.outstanding()).isEqualTo(1);
    }

    // ------------------------------------------------------------------ interest

    @Test
    @Clause("O-4")
    void readiness_thatNobodyWaitsFor_isDroppedTheSecondTimeAndAskedForAgain() {
        start(Opcode.READ, "read");
        reactor.flush();
        returns("recv", LENGTH);
        reactor.ready(socket, Ready.READABLE);
        armed.clear();
        reactor.ready(socket, Ready.READABLE);
        reactor.flush();
        assertThat(armed).as("once may be by chance").isEmpty();
        reactor.ready(socket, Ready.READABLE);
        reactor.flush();
        assertThat(armed).containsExactly("modify 0");
        reactor.ready(socket, Ready.READABLE);
        reactor.flush();
        assertThat(armed).hasSize(1);
        start(Opcode.READ, "again");
        reactor.flush();
        assertThat(armed).containsExactly("modify 0", "modify " + (Interest.READ | EDGE));
        assertThat(completed()).containsExactly("read 8");
    }

    @Test
    @Clause("O-4")
    void readiness_thatWasWaitedForInBetween_keepsItsInterest() {
        start(Opcode.READ, "first");
        reactor.flush();
        armed.clear();
        for (int i = 0; i < 5; i++) {
            returns("recv", LENGTH);
            reactor.ready(socket, Ready.READABLE);
            reactor.ready(socket, Ready.READABLE); // No operation waits.
            reactor.flush();
            returns("recv", -Errno.EAGAIN);
            start(Opcode.READ, "next");
            reactor.flush();
        }
        // The call blocks although readiness was reported, so the same interest is armed again.
        int reading = Interest.READ | Interest.END | EDGE;
        assertThat(armed).containsOnly("modify " + reading);
    }

    @Test
    @Clause("O-4")
    void interests_ofOneTick_areArmedTogether() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        start(Opcode.READ_URGENT, "urgent");
        assertThat(armed).isEmpty();
        reactor.flush();
        reactor.flush();
        int all = Interest.READ | Interest.WRITE | Interest.URGENT;
        assertThat(armed).containsExactly("register " + (all | EDGE));
    }

    @Test
    @Clause({"O-5", "E-1"})
    void interest_thatIsRefused_endsWhatWaitsAndIsAskedForAgain() {
        armingErrno = Errno.ENOMEM;
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        reactor.flush();
        assertThat(completed()).containsExactly("read ENOMEM", "write ENOMEM");
        armingErrno = 0;
        start(Opcode.READ, "again");
        reactor.flush();
        assertThat(armed).last().isEqualTo("register " + (Interest.READ | EDGE));
    }

    // ------------------------------------------------------------------ cancelling and closing

    @Test
    @Clause("O-6")
    void cancelAll_ofReadsOnly_leavesWritesAndUrgentData() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        reactor.cancelAll(socket, null, Kind.READ.bit);
        assertThat(completed()).containsExactly("first ECANCELED", "second ECANCELED");
        reactor.cancelAll(socket, null, Kind.EXCEPT.bit);
        assertThat(completed()).containsExactly("urgent ECANCELED");
        reactor.cancelAll(socket, null, Kind.WRITE.bit);
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
                reactor.start(socket, each);
                assertThat(completed()).containsExactly("each 3 more");
                reactor.cancelAll(socket, key, kind);
                reactor.resume(each);
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
        reactor.cancel(read);
        assertThat(completed()).containsExactly("read 8");
        reactor.cancel(read);
        assertThat(read.cancelRequested).isFalse();
        reactor.start(socket, read);
        reactor.cancel(read);
        assertThat(completed()).containsExactly("read ECANCELED");
    }

    @Test
    @Clause({"O-6", "O-7"})
    void cancel_ofAMultishotBetweenTwoCompletions_endsItWhenItIsResumed() {
        returns("recv", 3, 3);
        Request each = startEach("each");
        reactor.cancel(each); // Posted, not handed out.
        assertThat(completed()).containsExactly("each 3 more");
        reactor.resume(each);
        assertThat(completed()).containsExactly("each ECANCELED");
        assertThat(reactor.outstanding()).isZero();
    }

    @Test
    @Clause("O-7")
    void close_cancelsInOrderDeregistersAndSaysSo() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        reactor.flush();
        armed.clear();
        boolean[] released = {false};
        reactor.close(socket, () -> released[0] = true);
        // A duplicate of the number would keep the kernel's registration alive.
        assertThat(armed).containsExactly("deregister");
        assertThat(released[0]).isTrue();
        assertThat(completed()).containsExactly("read ECANCELED", "write ECANCELED");
        reactor.flush();
        assertThat(armed).hasSize(1);
    }

    @Test
    @Clause("O-7")
    void close_ofWhatWasNeverArmed_asksNothingOfTheKernel() {
        start(Opcode.READ, "read");
        reactor.close(socket, () -> {});
        assertThat(completed()).containsExactly("read ECANCELED");
        DescriptorState other = reactor.open(FD + 1, Traits.TCP);
        assertThat(other).as("it is in a list still").isNotSameAs(socket);
        reactor.flush();
        reactor.flush();
        assertThat(armed).isEmpty();
        assertThat(reactor.open(FD + 2, Traits.TCP)).isSameAs(socket);
        assertThat(reactor.open(FD + 3, Traits.TCP)).as("once").isNotSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_ofWhatIsIdle_makesTheStateAvailableAtOnce() {
        reactor.close(socket, () -> {});
        assertThat(reactor.open(FD + 1, Traits.TCP)).isSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_whileABufferIsWaitedFor_makesTheStateAvailableWhenOneComesBack() {
        open(1, Traits.TCP);
        int taken = reactor.buffers().take();
        start(Opcode.RECEIVE, "receive");
        reactor.flush();
        reactor.close(socket, () -> {});
        assertThat(completed()).containsExactly("receive ECANCELED");
        assertThat(reactor.open(FD + 1, Traits.TCP)).isNotSameAs(socket);
        calls.clear();
        reactor.giveBack(taken);
        reactor.flush();
        assertThat(calls).isEmpty();
        assertThat(reactor.open(FD + 2, Traits.TCP)).isSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_makesTheStateAvailableOnceNothingRefersToIt() {
        returns("recv", 3);
        Request each = startEach("each");
        assertThat(completed()).containsExactly("each 3 more");
        reactor.close(socket, () -> {});
        DescriptorState other = reactor.open(FD + 1, Traits.TCP);
        assertThat(other).as("its owner has the multishot still").isNotSameAs(socket);
        reactor.resume(each);
        assertThat(completed()).containsExactly("each ECANCELED");
        assertThat(reactor.open(FD + 2, Traits.TCP)).isSameAs(socket);
        assertThat(reactor.open(FD + 3, Traits.TCP)).isNotSameAs(socket);
    }

    // ------------------------------------------------------------------ the loop's buffers

    @Test
    @Clause("O-8")
    void receive_takesABufferOnlyForWhatArrives() {
        start(Opcode.RECEIVE, "receive");
        assertThat(reactor.buffers().available()).isEqualTo(4);
        returns("recv", 5);
        reactor.ready(socket, Ready.READABLE);
        assertThat(completed()).containsExactly("receive 5");
        assertThat(reactor.buffers().available()).isEqualTo(3);
        calls.clear();
        start(Opcode.RECEIVE, "next");
        assertThat(calls).as("a short one has emptied it").isEmpty();
        returns("recv", -Errno.EIO);
        reactor.ready(socket, Ready.READABLE);
        assertThat(completed()).containsExactly("next EIO");
        assertThat(reactor.buffers().available()).isEqualTo(3);
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
        reactor.ready(socket, Ready.READABLE | Ready.END);
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
        reactor.ready(socket, Ready.READABLE);
        calls.clear();
        start(Opcode.RECEIVE, "second");
        reactor.flush();
        assertThat(calls).as("nothing to receive into").isEmpty();
        reactor.giveBack(first.buffer);
        returns("recv", 4);
        reactor.flush();
        assertThat(completed()).containsExactly("second 4");
        reactor.flush();
        assertThat(calls).hasSize(1);
    }

    @Test
    @Clause({"O-8", "E-3"})
    void receives_thatShareOneBuffer_getItInTurn() {
        open(1, Traits.TCP);
        int taken = reactor.buffers().take();
        DescriptorState other = reactor.open(FD + 1, Traits.TCP);
        Request first = start(Opcode.RECEIVE, "first");
        Request second = request(Opcode.RECEIVE, "second");
        reactor.start(other, second);
        returns("recv", 3, 4);
        reactor.giveBack(taken);
        reactor.flush();
        assertThat(completed()).containsExactly("first 3");
        reactor.flush();
        assertThat(completed()).as("there is no buffer for the other").isEmpty();
        reactor.giveBack(first.buffer);
        reactor.flush();
        assertThat(completed()).containsExactly("second 4");
    }

    @Test
    @Clause("O-8")
    void receive_thatWouldBlockOrEnds_keepsNoBufferAndIsRemembered() {
        Request blocked = start(Opcode.RECEIVE, "blocked");
        reactor.cancel(blocked);
        start(Opcode.RECEIVE, "next");
        assertThat(calls).as("known to block").hasSize(1);
        returns("recv", 0, 0);
        reactor.ready(socket, Ready.READABLE);
        start(Opcode.RECEIVE, "again");
        assertThat(completed()).containsExactly("blocked ECANCELED", "next 0", "again 0");
        assertThat(reactor.buffers().available()).isEqualTo(4);

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
        assertThat(socket.withOwners()).containsExactly(each);
        reactor.resume(each);
        assertThat(socket.withOwners()).isEmpty();
        assertThat(completed()).containsExactly("each 0");
        assertThat(reactor.outstanding()).isZero();
        assertThat(reactor.ended()).isEqualTo(1);
    }

    @Test
    @Clause({"O-1", "O-9"})
    void multishotAccept_whoseDescriptorHasNumberZero_goesOn() {
        returns("accept4", 0);
        Request each = request(Opcode.ACCEPT, "each");
        each.multishot = true;
        reactor.start(socket, each);
        assertThat(completed()).containsExactly("each 0 more");
        reactor.resume(each);
        assertThat(reactor.outstanding()).isEqualTo(1);
        returns("accept4", -Errno.EMFILE);
        reactor.ready(socket, Ready.READABLE);
        assertThat(completed()).containsExactly("each EMFILE");
    }

    @Test
    @Clause({"O-3", "O-9"})
    void hasCompleted_isTrueUntilAllAreTaken() {
        assertThat(reactor.hasCompleted()).isFalse();
        returns("recv", LENGTH);
        start(Opcode.READ, "read");
        assertThat(reactor.hasCompleted()).isTrue();
        assertThat(reactor.outstanding()).isEqualTo(1);
        completed();
        assertThat(reactor.hasCompleted()).isFalse();
        assertThat(reactor.outstanding()).isZero();
    }
}
