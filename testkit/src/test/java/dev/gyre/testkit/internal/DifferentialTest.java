package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLET;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLONESHOT;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLPRI;
import static dev.gyre.internal.sys.Linux.EPOLLRDHUP;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Compares the simulated kernel with the real one. Both run the same random program of calls. Each
/// call must have the same result, each descriptor the same readiness, and each wait the same
/// events.
///
/// Writes stay small, because Linux decides by the size of its own structures when a socket is
/// full. Pipes are simulated to the page.
@On("simulated")
class DifferentialTest {
    private static final int PROGRAMS = Integer.getInteger("gyre.differential.programs", 400);
    private static final int BATCHES = 8;
    private static final int STEPS = 120;
    private static final int MAX_UNREAD = 4_000;

    /// Threads of the real kernel handle a busy loopback. Then the comparison is repeated.
    private static final int MAX_TRIES = 200_000;

    private enum Sort {
        PIPE_READER,
        PIPE_WRITER,
        UNIX,
        EVENTFD,
        TCP,
        LISTENER,
        UDP
    }

    @TestFactory
    @Clause("B-6")
    Stream<DynamicTest> randomPrograms_giveTheSameOnBothKernels() {
        Long only = Long.getLong("gyre.differential.seed");
        if (only != null) {
            return Stream.of(DynamicTest.dynamicTest("seed " + only, () -> new Run(only).go()));
        }
        return IntStream.range(0, BATCHES)
                .mapToObj(
                        batch ->
                                DynamicTest.dynamicTest(
                                        "batch " + batch,
                                        () -> {
                                            for (int i = batch; i < PROGRAMS; i += BATCHES) {
                                                new Run(i).go();
                                            }
                                        }));
    }

    /// One program on two kernels.
    private static final class Run {
        private final long seed;
        private final SeededRandom random;
        private final SimulatedKernel simulated;
        private final List<String> log = new ArrayList<>();
        private final List<Sort> sorts = new ArrayList<>();

        /// The handle of the other end by handle; -1 if unknown or closed.
        private final List<Integer> others = new ArrayList<>();

        private final Map<Integer, Integer> masks = new HashMap<>();
        private final Set<Integer> shutDown = new HashSet<>();
        private CallSide real;
        private CallSide model;

        Run(long seed) {
            this.seed = seed;
            random = new SeededRandom(seed);
            simulated = new SimulatedKernel(seed);
            simulated.latency(0, 0);
        }

        void go() {
            try (CallSide r = new CallSide(SyscallFactories.LINUX);
                    CallSide m = new CallSide(simulated.syscalls())) {
                real = r;
                model = m;
                for (int i = 0; i < STEPS; i++) {
                    step();
                    compareReadiness();
                }
            }
        }

        private void step() {
            int choice = random.below(100);
            if (sorts.size() < 2 || (choice < 12 && sorts.size() < 24)) {
                open();
                return;
            }
            int handle = openHandle();
            if (handle < 0) {
                return;
            }
            if (choice < 35) {
                write(handle);
            } else if (choice < 55) {
                read(handle);
            } else if (choice < 62) {
                shutdown(handle);
            } else if (choice < 68) {
                closeHandle(handle);
            } else if (choice < 80) {
                control(handle);
            } else if (choice < 92) {
                waitForEvents();
            } else {
                ask(handle);
            }
        }

        private int openHandle() {
            for (int i = 0; i < 8; i++) {
                int handle = random.below(sorts.size());
                if (model.number(handle) >= 0) {
                    return handle;
                }
            }
            return -1;
        }

        // -------------------------------------------------------------- steps

        private void open() {
            switch (random.below(6)) {
                case 0 -> {
                    same("pipe2", CallSide::pipe);
                    pair(Sort.PIPE_READER, Sort.PIPE_WRITER);
                }
                case 1 -> {
                    same("socketpair", CallSide::socketPair);
                    pair(Sort.UNIX, Sort.UNIX);
                }
                case 2 -> {
                    same("eventfd", CallSide::eventfd);
                    single(Sort.EVENTFD);
                }
                case 3 -> {
                    same("socket(UDP)", side -> side.socket(Linux.SOCK_DGRAM));
                    int handle = single(Sort.UDP);
                    same("bind", side -> side.bind(handle));
                }
                case 4 -> {
                    same("socket", side -> side.socket(Linux.SOCK_STREAM));
                    single(Sort.TCP);
                }
                default -> connectedPair();
            }
        }

        private void connectedPair() {
            same("socket", side -> side.socket(Linux.SOCK_STREAM));
            int listener = single(Sort.LISTENER);
            same("bind", side -> side.bind(listener));
            same("listen", side -> side.listen(listener, 4));
            same("socket", side -> side.socket(Linux.SOCK_STREAM));
            int client = single(Sort.TCP);
            same("connect", side -> side.connect(client, listener));
            compareReadiness();
            same("accept " + listener, side -> side.accept(listener));
            int server = single(Sort.TCP);
            others.set(client, server);
            others.set(server, client);
        }

        private int single(Sort sort) {
            sorts.add(sort);
            others.add(-1);
            return sorts.size() - 1;
        }

        private void pair(Sort one, Sort other) {
            int first = single(one);
            int second = single(other);
            others.set(first, second);
            others.set(second, first);
        }

        private void write(int handle) {
            byte[] bytes = new byte[sizeFor(handle)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) random.next();
            }
            String call = " " + handle + " of " + bytes.length;
            switch (sorts.get(handle)) {
                case EVENTFD -> {
                    byte[] one = new byte[8];
                    one[0] = (byte) (1 + random.below(3));
                    same("write" + call, side -> side.write(handle, one));
                }
                case PIPE_READER, PIPE_WRITER ->
                        same("write" + call, side -> side.write(handle, bytes));
                case UDP, LISTENER -> same("send" + call, side -> side.send(handle, bytes, 0));
                case UNIX, TCP -> {
                    if (mayFill(handle)) {
                        return;
                    }
                    boolean urgent = sorts.get(handle) == Sort.TCP && random.below(8) == 0;
                    int flags = urgent ? Linux.MSG_OOB : 0;
                    same("send" + flags + call, side -> side.send(handle, bytes, flags));
                }
            }
        }

        private int sizeFor(int handle) {
            boolean pipe = sorts.get(handle) == Sort.PIPE_WRITER;
            return pipe && random.below(4) == 0 ? random.below(70_000) : 100 + random.below(1_400);
        }

        /// Returns whether the other end has so many unread bytes that Linux might treat it as
        /// full.
        private boolean mayFill(int handle) {
            int other = others.get(handle);
            if (other < 0 || model.number(other) < 0) {
                return false;
            }
            OpenFile file = simulated.descriptors.find(model.number(other));
            return file != null && file.available() > MAX_UNREAD;
        }

        private void read(int handle) {
            int count = random.below(4) == 0 ? 1 + random.below(200) : 8 + random.below(60_000);
            boolean urgent = sorts.get(handle) == Sort.TCP && random.below(8) == 0;
            String call = handle + " up to " + count;
            if (urgent) {
                same("recv(OOB) " + call, side -> side.receive(handle, 1, Linux.MSG_OOB));
            } else {
                same("read " + call, side -> side.read(handle, count));
            }
        }

        private void shutdown(int handle) {
            if (sorts.get(handle) == Sort.LISTENER) {
                return; // Another socket has the port, so connections to it differ.
            }
            int how = random.below(3);
            if (sorts.get(handle) == Sort.TCP) {
                shutDown.add(handle);
            }
            same("shutdown " + handle + " " + how, side -> side.shutdown(handle, how));
        }

        private void closeHandle(int handle) {
            same("close " + handle, side -> side.closeHandle(handle));
        }

        private void control(int handle) {
            int operation = new int[] {1, 1, 3, 3, 2}[random.below(5)];
            int[] bits = {EPOLLIN, EPOLLOUT, EPOLLPRI, EPOLLRDHUP, EPOLLET, EPOLLONESHOT};
            int mask = 0;
            for (int bit : bits) {
                mask |= random.below(2) == 0 ? bit : 0;
            }
            int chosen = mask;
            int result =
                    same(
                            "epoll_ctl "
                                    + operation
                                    + " "
                                    + handle
                                    + " "
                                    + Integer.toHexString(mask),
                            side -> side.control(operation, handle, chosen));
            if (result == 0) {
                masks.put(handle, mask);
            }
        }

        private void waitForEvents() {
            Map<Long, Integer> expected = real.waitNow();
            Map<Long, Integer> found = model.waitNow();
            log.add("epoll_wait = " + expected);
            List<Long> late = new ArrayList<>(expected.keySet());
            late.removeAll(found.keySet());
            late.removeIf(handle -> !shutDown.contains(handle.intValue()));
            for (long handle : late) {
                // The acknowledgement of the end is an edge too. On Linux it may arrive any time
                // later. After a rearm both sides are in the same state.
                expected.remove(handle);
                int mask = masks.get((int) handle);
                same(
                        "again " + handle,
                        side -> side.control(Linux.EPOLL_CTL_MOD, (int) handle, mask));
            }
            if (!expected.equals(found)) {
                throw different("epoll_wait: Linux says " + expected + ", simulated " + found);
            }
        }

        private void ask(int handle) {
            switch (random.below(3)) {
                case 0 -> same("SO_ERROR " + handle, side -> side.takeError(handle));
                case 1 -> same("getpeername " + handle, side -> side.hasPeer(handle));
                default -> {
                    int listener = sorts.indexOf(Sort.LISTENER);
                    boolean fits =
                            sorts.get(handle) == Sort.TCP
                                    && listener >= 0
                                    && model.number(listener) >= 0;
                    if (fits) {
                        same("connect " + handle, side -> side.connect(handle, listener));
                        compareReadiness();
                        if (same("accept " + listener, side -> side.accept(listener)) == 0) {
                            single(Sort.TCP);
                        }
                    }
                }
            }
        }

        // -------------------------------------------------------------- comparing

        private <T> T same(String what, Function<CallSide, T> call) {
            T expected = call.apply(real);
            T found = call.apply(model);
            log.add(what + " = " + show(expected));
            if (!Objects.equals(expected, found)) {
                throw different(
                        what + ": Linux says " + show(expected) + ", simulated " + show(found));
            }
            return found;
        }

        private static String show(Object result) {
            return result instanceof Number number && number.longValue() < 0
                    ? Errno.name((int) -number.longValue())
                    : String.valueOf(result);
        }

        private void compareReadiness() {
            for (int handle = 0; handle < sorts.size(); handle++) {
                if (model.number(handle) < 0) {
                    continue;
                }
                int expected = model.ready(handle);
                int found = real.ready(handle);
                for (int tries = 0; found != expected && tries < MAX_TRIES; tries++) {
                    Thread.onSpinWait();
                    found = real.ready(handle);
                }
                if (found != expected) {
                    throw different(
                            sorts.get(handle)
                                    + " "
                                    + handle
                                    + " is ready for "
                                    + Integer.toHexString(found)
                                    + " on Linux, for "
                                    + Integer.toHexString(expected)
                                    + " in the simulation");
                }
            }
        }

        private AssertionError different(String what) {
            return new AssertionError(
                    what
                            + "\nprogram of seed "
                            + seed
                            + " (-Dgyre.differential.seed="
                            + seed
                            + "):\n"
                            + String.join("\n", log));
        }
    }
}
