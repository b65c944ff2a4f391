package dev.gyre.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// How long it takes a sleeping peer to begin a task: from the moment before it is submitted to the
/// moment the woken thread reads the clock.
///
/// `wake.c` does the same, step by step: the signalling thread waits 50 µs by looking at the clock,
/// in which the other goes to sleep; it reads the clock, signals, and waits until the other has
/// stored what its own clock says. There is one signal under way at a time.
///
/// **Two processors**: the signalling thread spins, and the other one's processor becomes idle.
/// That is what happens in practice, and in a virtual machine it measures above all how long the
/// hypervisor takes to get an idle processor going, up to some ten microseconds.
///
/// **One processor**, to which the process has been confined: the signalling thread yields wherever
/// it would spin. Nothing is idle then, the wake-up is one switch from thread to thread, and what a
/// peer does itself shows.
///
/// Appends the latencies to a file, in nanoseconds, one a line: `WakeLatency PEER SPIN|YIELD
/// WARM-UPS SAMPLES FILE`. [LatencyTable] reads them.
public final class WakeLatency {
    private static final long PAUSE_NANOS = 50_000;

    private WakeLatency() {}

    /// How the signalling thread passes its time.
    private enum Waiting {
        SPIN {
            @Override
            void once() {
                Thread.onSpinWait();
            }
        },
        YIELD {
            @Override
            @SuppressWarnings("ThreadPriorityCheck") // to the one thread that is waited for
            void once() {
                Thread.yield();
            }
        };

        abstract void once();
    }

    private static final class Stamp implements Runnable {
        // Written before `stamped`, read after it.
        private long nanos;

        private volatile boolean stamped;

        @Override
        public void run() {
            nanos = System.nanoTime();
            stamped = true;
        }
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 5) {
            System.err.println("usage: WakeLatency PEER SPIN|YIELD WARM-UPS SAMPLES FILE");
            System.exit(2);
        }
        Waiting waiting = Waiting.valueOf(args[1]);
        int warmUps = Integer.parseInt(args[2]);
        int samples = Integer.parseInt(args[3]);
        try (Peer peer = Peer.open(args[0])) {
            measure(peer, waiting, new long[warmUps]);
            long[] latencies = new long[samples];
            long before = wakeups(peer);
            measure(peer, waiting, latencies);
            long woken = wakeups(peer) - before;
            if (peer instanceof GyrePeer && woken != samples) {
                System.err.printf(
                        "gyre was awake already in %d of %d cases%n", samples - woken, samples);
            }
            append(Path.of(args[4]), latencies);
        }
    }

    private static void measure(Peer peer, Waiting waiting, long[] latencies) {
        Stamp stamp = new Stamp();
        for (int i = 0; i < latencies.length; i++) {
            pause(waiting);
            long before = System.nanoTime();
            peer.execute(stamp);
            while (!stamp.stamped) {
                waiting.once();
            }
            latencies[i] = stamp.nanos - before;
            stamp.stamped = false;
        }
    }

    private static void pause(Waiting waiting) {
        long until = System.nanoTime() + PAUSE_NANOS;
        while (System.nanoTime() - until < 0) {
            waiting.once();
        }
    }

    private static long wakeups(Peer peer) {
        return peer instanceof GyrePeer gyre ? gyre.loop.metrics().wakeups() : 0;
    }

    private static void append(Path file, long[] latencies) throws IOException {
        try (var out =
                new PrintWriter(
                        Files.newBufferedWriter(
                                file, StandardOpenOption.CREATE, StandardOpenOption.APPEND))) {
            for (long latency : latencies) {
                out.println(latency);
            }
        }
    }
}
