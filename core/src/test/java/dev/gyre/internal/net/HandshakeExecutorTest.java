package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/// The limit of concurrent handshake jobs, and their order.
class HandshakeExecutorTest {
    private static final int MAX = HandshakeExecutor.MAX_CONCURRENT;

    private final EventLoop loop = EventLoop.open();
    private final HandshakeExecutor work = new HandshakeExecutor(loop, loop::microtask);
    private final List<Integer> done = new ArrayList<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();

    @AfterEach
    void close() {
        gate.countDown();
        loop.close();
    }

    private void submit(int number) {
        work.submit(
                number,
                () -> {
                    begun.incrementAndGet();
                    await();
                },
                () -> done.add(number),
                refused -> {
                    throw new AssertionError(refused);
                });
    }

    private void await() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Clause("X-1")
    void submit_aboveTheLimit_waitsItsTurn() {
        for (int i = 0; i < MAX + 3; i++) {
            submit(i);
        }
        assertThat(work.running()).isEqualTo(MAX);
        assertThat(work.waiting()).isEqualTo(3);
        assertThat(begun.get()).isLessThanOrEqualTo(MAX);

        gate.countDown();
        loop.runUntilEmpty();

        assertThat(done).hasSize(MAX + 3).doesNotHaveDuplicates();
        assertThat(work.running()).isZero();
    }

    @Test
    @Clause("X-1")
    void leave_whileWaiting_neverBegins() {
        for (int i = 0; i < MAX + 3; i++) {
            submit(i);
        }
        work.cancel(MAX + 1);
        assertThat(work.waiting()).isEqualTo(2);

        gate.countDown();
        loop.runUntilEmpty();

        assertThat(done).hasSize(MAX + 2).doesNotContain(MAX + 1);
        assertThat(begun).hasValue(MAX + 2);
    }

    @Test
    @Clause("X-1")
    void tasks_thatThrow_makeRoomForTheNext() {
        gate.countDown();
        List<Throwable> refused = new ArrayList<>();
        for (int i = 0; i < MAX; i++) {
            work.submit(
                    "failing " + i,
                    () -> {
                        throw new IllegalStateException("out of order");
                    },
                    () -> done.add(-1),
                    refused::add);
        }
        submit(7);
        loop.runUntilEmpty();

        assertThat(refused).hasSize(MAX).allMatch(IllegalStateException.class::isInstance);
        assertThat(done).containsExactly(7);
    }
}
