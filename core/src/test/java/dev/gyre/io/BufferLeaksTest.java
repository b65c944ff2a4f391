package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Reachability;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Reports of unreleased buffers. The tests run with `gyre.leaks=on`.
class BufferLeaksTest {
    private final List<Throwable> leaks = new ArrayList<>();
    private final Loop loop = open();

    private Loop open() {
        LoopObserver observer =
                new LoopObserver() {
                    @Override
                    public void onBufferLeak(EventLoop loop, Throwable takenAt) {
                        leaks.add(takenAt);
                    }
                };
        return Loop.open(LoopConfig.DEFAULT.withObserver(observer), new ScriptedBackend());
    }

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    private void turn() {
        loop.submit(() -> {});
        loop.runSome();
    }

    private void assertOneLeak(int bytes, String takenIn) {
        assertThat(leaks).as("leaks of %s", takenIn).hasSize(1);
        Throwable takenAt = leaks.getFirst();
        assertThat(takenAt)
                .hasMessageContaining("a buffer of " + bytes + " bytes was acquired here");
        assertThat(takenAt.getStackTrace()[0].getClassName())
                .as("the first frame is the user's")
                .isEqualTo(BufferLeaksTest.class.getName());
        assertThat(takenAt.getStackTrace()[0].getMethodName()).contains(takenIn);
    }

    @Test
    void buffer_dropped_isToldOnceWithItsPlace() {
        Reachability dropped = Reachability.of(() -> Buffer.acquire(loop, 100));
        dropped.assertLost("a buffer that was taken and dropped");
        // The collector clears references first and enqueues them later.
        for (int turns = 0; turns < 100_000 && leaks.isEmpty(); turns++) {
            turn();
        }
        assertOneLeak(4096, "buffer_dropped");
        loop.close();
        assertThat(leaks).hasSize(1);
    }

    @Test
    void buffer_stillOutAtTheEnd_isTold() {
        Buffer forgotten = Buffer.acquire(loop, 10_000);
        Buffer given = Buffer.acquire(loop, 10);
        given.release();
        turn();
        assertThat(leaks).as("it may still come back").isEmpty();
        loop.close();
        assertOneLeak(16_384, "buffer_stillOutAtTheEnd");
        forgotten.release(); // Late, but valid.
        assertThat(leaks).hasSize(1);
    }

    @Test
    void slice_ofAReleasedBuffer_isALeakOfItsOwn() {
        Buffer taken = Buffer.acquire(loop, 10).putInt(1);
        Buffer slice = taken.slice(4);
        taken.release();
        loop.close();
        assertOneLeak(4, "slice_ofAReleasedBuffer");
        assertThat(slice.readable()).isEqualTo(4);
    }

    @Test
    void buffers_givenBackByWhoeverWherever_areNoLeaks() {
        Buffer taken = Buffer.acquire(loop, 10).putInt(1);
        Buffer slice = taken.slice(4);
        CompletableFuture.runAsync(taken::release).join();
        slice.release();
        Buffer.allocate(10).putInt(1).slice(4); // Needs no release.
        loop.operations().pool().acquire(10); // Internal buffers are not tracked.
        loop.close();
        assertThat(leaks).isEmpty();
    }

    @Test
    void property_otherThanOnOrOff_isRefused() {
        String before = System.setProperty("gyre.leaks", "yes");
        try {
            assertThatThrownBy(() -> Loop.open(LoopConfig.DEFAULT, new ScriptedBackend()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the system property gyre.leaks must be on or off, but is yes");
        } finally {
            restore(before);
        }
    }

    @Test
    void property_off_recordsNothing() {
        String before = System.setProperty("gyre.leaks", "off");
        try (Loop quiet = open()) {
            Buffer.acquire(quiet, 10);
        } finally {
            restore(before);
        }
        assertThat(leaks).isEmpty();
    }

    private static void restore(String before) {
        if (before == null) {
            System.clearProperty("gyre.leaks");
        } else {
            System.setProperty("gyre.leaks", before);
        }
    }
}
