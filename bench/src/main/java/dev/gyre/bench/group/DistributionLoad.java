package dev.gyre.bench.group;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.io.Distribution;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/// Compares the distributions of a group listener: `DistributionLoad BACKEND LOOPS SECONDS ROUNDS`,
/// as in `DistributionLoad EPOLL 2 3 5`. Prints one line per distribution and round:
///
/// - CPU time of the loop threads per short-lived connection: accept, echo of one byte, close
/// - short-lived connections per second, limited by the clients, which run on the same machine
/// - connections per loop after 2 000 long-lived connections of which 1 000, chosen at random, were
///   closed
public final class DistributionLoad {
    private static final int CLIENTS = 4;
    private static final int LONG_LIVED = 1_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final LoopGroup group;
    private final GroupListener listener;

    private DistributionLoad(LoopGroup group, GroupListener listener) {
        this.group = group;
        this.listener = listener;
    }

    public static void main(String[] args) throws Exception {
        BackendKind backend = BackendKind.valueOf(args[0]);
        int loops = Integer.parseInt(args[1]);
        Duration time = Duration.ofSeconds(Long.parseLong(args[2]));
        int rounds = Integer.parseInt(args[3]);
        System.out.printf(
                "%-18s %14s %14s   %s%n", "", "CPU µs/conn", "conn/s", "long-lived per loop");
        for (int round = 0; round <= rounds; round++) {
            for (Distribution distribution : Distribution.values()) {
                measure(backend, loops, distribution, time, round == 0);
            }
        }
    }

    private static void measure(
            BackendKind backend,
            int loops,
            Distribution distribution,
            Duration time,
            boolean warmUp)
            throws Exception {
        LoopGroupConfig config =
                LoopGroupConfig.DEFAULT.withLoopConfig(LoopConfig.DEFAULT.withBackend(backend));
        try (LoopGroup group = LoopGroup.of(loops, config)) {
            GroupListener listener =
                    Listener.on(
                            group,
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            ListenerConfig.DEFAULT.withDistribution(distribution),
                            stream -> stream.onData(stream::write));
            group.start();
            var load = new DistributionLoad(group, listener);
            String line = load.shortLived(time) + load.longLived();
            if (!warmUp) {
                System.out.printf("%-18s %s%n", distribution, line);
            }
        }
    }

    private String shortLived(Duration time) throws InterruptedException {
        SocketAddress address = listener.address();
        AtomicLong count = new AtomicLong();
        long before = cpuNanos();
        long start = System.nanoTime();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        while (System.nanoTime() - start < time.toNanos()) {
                                            exchangeOnce(address);
                                            count.incrementAndGet();
                                        }
                                    }));
        }
        for (Thread client : clients) {
            client.join();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        double cpu = (cpuNanos() - before) / 1e3 / count.get();
        return String.format(Locale.ROOT, "%14.2f %14.0f   ", cpu, count.get() / seconds);
    }

    private static void exchangeOnce(SocketAddress address) {
        try (Socket client = new Socket()) {
            client.setSoLinger(true, 0); // A reset leaves no TIME_WAIT, which would use up ports.
            client.connect(address);
            client.getOutputStream().write(1);
            int _ = client.getInputStream().read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String longLived() throws IOException {
        Random random = new Random(1);
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < 2 * LONG_LIVED; i++) {
            Socket client = new Socket();
            client.connect(listener.address());
            client.getOutputStream().write(1);
            int _ = client.getInputStream().read();
            clients.add(client);
            if (clients.size() > LONG_LIVED) {
                try (Socket leaving = clients.remove(random.nextInt(clients.size()))) {
                    leaving.setSoLinger(true, 0);
                }
            }
        }
        while (listener.connections() > LONG_LIVED) {
            Thread.onSpinWait();
        }
        int[] counts =
                IntStream.range(0, group.size())
                        .map(i -> listener.connections(group.loops().get(i)))
                        .toArray();
        for (Socket client : clients) {
            client.setSoLinger(true, 0);
            client.close();
        }
        int max = Arrays.stream(counts).max().orElse(0);
        int min = Arrays.stream(counts).min().orElse(0);
        return String.format(
                Locale.ROOT,
                "%s, max/min %.3f",
                Arrays.toString(counts),
                (double) max / Math.max(1, min));
    }

    /// Returns the CPU time of all loop threads.
    private long cpuNanos() {
        long sum = 0;
        for (EventLoop loop : group.loops()) {
            while (loop.thread() == null) {
                Thread.onSpinWait();
            }
            sum += THREADS.getThreadCpuTime(Objects.requireNonNull(loop.thread()).threadId());
        }
        return sum;
    }
}
