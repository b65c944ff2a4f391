package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.Errno;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Receives of bulk senders beside receives of light senders. A tick is one poll of the kernel and
/// the handling of all its completions.
@On("io_uring")
class UringFairnessTest extends UringFixture {
    private static final int BUFFERS = 16;
    private static final int BUFFER_BYTES = 64;
    private static final int ROUNDS = 40;

    private final List<Integer> bulkPeers = new ArrayList<>();
    private final Set<Request> served = new HashSet<>();
    private final MemorySegment flood = memory(BUFFER_BYTES * BUFFERS * 4);
    private int receives;

    @BeforeEach
    void openWithFewBuffers() {
        uring.countCompletions(Errno.ENOBUFS);
        open(LoopConfig.DEFAULT.withReceiveBuffers(BUFFERS, BUFFER_BYTES));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 15, 16, 50})
    @Clause({"N-6", "B-4"})
    void receive_ofALightPeerBesideBulkPeers_isServedInItsTurn(int bulk) {
        startBulk(bulk);
        int[] light = pair();
        Request receive = receiving(light[0]);
        ticks(10);

        for (int round = 0; round < ROUNDS; round++) {
            send(light[1], "ping");
            assertThat(ticksUntilServed(receive)).isLessThanOrEqualTo(maxTicks(bulk + 1));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 50})
    @Clause({"N-6", "B-4"})
    void receive_ofANewPeerBesideBulkPeers_isServedInItsTurn(int bulk) {
        startBulk(bulk);
        ticks(10);

        for (int round = 0; round < ROUNDS; round++) {
            int[] light = pair();
            send(light[1], "ping");
            assertThat(ticksUntilServed(receiving(light[0])))
                    .isLessThanOrEqualTo(maxTicks(bulk + round + 1));
        }
    }

    @Test
    @Clause({"N-6", "B-4"})
    void receive_ofBulkPeersThatPauseNowAndThen_leavesALightPeerItsTurn() {
        startBulk(0);
        List<Integer> bursty = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int[] pair = pair();
            receiving(pair[0]);
            bursty.add(pair[1]);
        }
        int[] light = pair();
        Request receive = receiving(light[0]);
        ticks(10);

        for (int round = 0; round < ROUNDS; round++) {
            // All at once, after a pause in which each of them was drained.
            bursty.forEach(this::sendAll);
            send(light[1], "ping");
            assertThat(ticksUntilServed(receive)).isLessThanOrEqualTo(maxTicks(9) + 1);
            ticks(40);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 50})
    @Clause({"O-8", "B-4"})
    void receive_ofBulkPeers_seldomLacksABuffer(int bulk) {
        startBulk(bulk);
        ticks(10);
        int before = uring.countedCompletions();
        int receivesBefore = receives;

        ticks(100);

        assertThat(receives - receivesBefore)
                .isGreaterThanOrEqualTo(100 * Math.min(bulk, BUFFERS) / 2);
        assertThat(uring.countedCompletions() - before)
                .as("completions without a buffer")
                .isLessThanOrEqualTo(10);
    }

    /// Returns the ticks to serve each of these connections once, plus one to poll the kernel.
    private static int maxTicks(int connections) {
        return 2 + (connections + BUFFERS - 1) / BUFFERS;
    }

    private void startBulk(int count) {
        for (int i = 0; i < count; i++) {
            int[] pair = pair();
            receiving(pair[0]);
            bulkPeers.add(pair[1]);
        }
    }

    private Request receiving(int fd) {
        Request receive = new Request(callback -> {});
        receive.opcode = Opcode.RECEIVE;
        receive.multishot = true;
        requests.start(requests.open(fd, STREAM_SOCKET), receive);
        return receive;
    }

    private int ticksUntilServed(Request receive) {
        for (int ticks = 1; ticks <= 100; ticks++) {
            served.clear();
            ticks(1);
            if (served.contains(receive)) {
                return ticks;
            }
        }
        throw new AssertionError("not served in 100 ticks");
    }

    private void ticks(int count) {
        for (int i = 0; i < count; i++) {
            bulkPeers.forEach(this::sendAll);
            backend.pollNow();
            for (Request done = requests.pollCompleted();
                    done != null;
                    done = requests.pollCompleted()) {
                assertThat(done.result).isPositive();
                receives++;
                served.add(done);
                requests.releaseBuffer(done.buffer);
                requests.resume(done);
            }
        }
    }

    /// Sends until the socket is full.
    private void sendAll(int fd) {
        while (kernel.write(fd, flood.address(), flood.byteSize()) > 0) {}
    }
}
