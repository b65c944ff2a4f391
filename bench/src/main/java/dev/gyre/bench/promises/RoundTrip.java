package dev.gyre.bench.promises;

import dev.gyre.EventLoop;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/// Measures the round trip of empty work on a virtual thread.
///
/// `bare`: a platform thread starts a virtual one, which stores its result and unparks the first.
/// `future`: the same with `CompletableFuture`. `gyre`: a loop promisifies work and its handler
/// runs; the loop sleeps in the kernel meanwhile. Between two round trips the thread spins for 50
/// µs, so that the other one is asleep again.
///
/// Appends the times to a file, in nanoseconds, one per line:
/// `RoundTrip PEER WARM-UPS SAMPLES FILE`. [dev.gyre.bench.LatencyTable] reads them.
public final class RoundTrip {
    private static final long PAUSE_NANOS = 50_000;

    private RoundTrip() {}

    public static void main(String[] args) throws IOException {
        if (args.length != 4) {
            System.err.println("usage: RoundTrip bare|future|gyre WARM-UPS SAMPLES FILE");
            System.exit(2);
        }
        int warmUps = Integer.parseInt(args[1]);
        long[] nanos = new long[warmUps + Integer.parseInt(args[2])];
        switch (args[0]) {
            case "bare" -> bare(nanos);
            case "future" -> future(nanos);
            case "gyre" -> gyre(nanos);
            default -> throw new IllegalArgumentException("no such peer: " + args[0]);
        }
        append(Path.of(args[3]), nanos, warmUps);
    }

    private static final class Errand implements Runnable {
        private final Thread sender;

        // Shared: set by the virtual thread, read by the sender.
        private volatile boolean done;

        Errand(Thread sender) {
            this.sender = sender;
        }

        @Override
        public void run() {
            done = true;
            LockSupport.unpark(sender);
        }
    }

    private static void bare(long[] nanos) {
        for (int i = 0; i < nanos.length; i++) {
            pause();
            long before = System.nanoTime();
            Errand errand = new Errand(Thread.currentThread());
            Thread.startVirtualThread(errand);
            while (!errand.done) {
                LockSupport.park(errand);
            }
            nanos[i] = System.nanoTime() - before;
        }
    }

    private static void future(long[] nanos) {
        for (int i = 0; i < nanos.length; i++) {
            pause();
            long before = System.nanoTime();
            CompletableFuture.supplyAsync(() -> before, Thread::startVirtualThread).join();
            nanos[i] = System.nanoTime() - before;
        }
    }

    private static void gyre(long[] nanos) {
        try (EventLoop loop = EventLoop.open()) {
            new GyreTrips(loop, nanos).next();
            loop.runUntilEmpty();
        }
    }

    private static final class GyreTrips {
        private final EventLoop loop;
        private final long[] nanos;
        private int count;

        GyreTrips(EventLoop loop, long[] nanos) {
            this.loop = loop;
            this.nanos = nanos;
        }

        void next() {
            pause();
            long before = System.nanoTime();
            loop.<Long>promisify(_ -> before).thenAccept(this::back);
        }

        private void back(long before) {
            nanos[count++] = System.nanoTime() - before;
            if (count < nanos.length) {
                loop.defer(this::next);
            }
        }
    }

    private static void pause() {
        long until = System.nanoTime() + PAUSE_NANOS;
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    private static void append(Path file, long[] nanos, int warmUps) throws IOException {
        try (var out =
                new PrintWriter(
                        Files.newBufferedWriter(
                                file, StandardOpenOption.CREATE, StandardOpenOption.APPEND))) {
            for (int i = warmUps; i < nanos.length; i++) {
                out.println(nanos[i]);
            }
        }
    }
}
