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
/// in which the other goes to sleep and its processor becomes idle; it reads the clock, signals,
/// and spins until the other has stored what its own clock says. There is one signal under way at a
/// time and one thread a processor, if there are two.
///
/// Appends the latencies to a file, in nanoseconds, one a line: `WakeLatency PEER WARM-UPS SAMPLES
/// FILE`. [WakeTable] reads them.
public final class WakeLatency {
    private static final long PAUSE_NANOS = 50_000;

    private WakeLatency() {}

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
        if (args.length != 4) {
            System.err.println("usage: WakeLatency PEER WARM-UPS SAMPLES FILE");
            System.exit(2);
        }
        int warmUps = Integer.parseInt(args[1]);
        int samples = Integer.parseInt(args[2]);
        try (Peer peer = Peer.open(args[0])) {
            measure(peer, new long[warmUps]);
            long[] latencies = new long[samples];
            long before = wakeups(peer);
            measure(peer, latencies);
            long woken = wakeups(peer) - before;
            if (peer instanceof GyrePeer && woken != samples) {
                System.err.printf(
                        "gyre was awake already in %d of %d cases%n", samples - woken, samples);
            }
            append(Path.of(args[3]), latencies);
        }
    }

    private static void measure(Peer peer, long[] latencies) {
        Stamp stamp = new Stamp();
        for (int i = 0; i < latencies.length; i++) {
            pause();
            long before = System.nanoTime();
            peer.execute(stamp);
            while (!stamp.stamped) {
                Thread.onSpinWait();
            }
            latencies[i] = stamp.nanos - before;
            stamp.stamped = false;
        }
    }

    private static void pause() {
        long until = System.nanoTime() + PAUSE_NANOS;
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
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
