package dev.gyre.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Measures how long a sleeping thread takes to start a task: from before the submission until the
/// woken thread reads the clock.
///
/// `wake.c` does the same, step by step. The signalling thread spins for 50 µs, in which the other
/// one falls asleep. It reads the clock, signals, and waits until the other one has stored its own
/// clock. One signal is in flight at a time.
///
/// **Two processors**: the signalling thread spins, and the other processor becomes idle, as in
/// practice. In a virtual machine this mainly measures how long the hypervisor takes to resume an
/// idle processor, up to some ten microseconds.
///
/// **One processor**, to which the process is confined: the signalling thread yields instead of
/// spinning. No processor is idle, the wake-up is one context switch, and the cost of the
/// implementation is visible.
///
/// Appends the latencies to a file, in nanoseconds, one per line: `WakeLatency PEER SPIN|YIELD
/// WARM-UPS SAMPLES FILE`. [LatencyTable] reads them.
public final class WakeLatency {
    private static final long PAUSE_NANOS = 50_000;

    private WakeLatency() {}

    /// How the signalling thread waits.
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
