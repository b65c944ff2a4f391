package dev.gyre.bench.group;

import dev.gyre.BackendKind;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.io.Distribution;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// Kills loops under load: `LoopFailureLoad BACKEND LOOPS`. A client sends a byte that makes the
/// handler throw a VM error. Prints, per failure, how long new clients needed from connecting to
/// their response, and how many of the load's connections were lost.
public final class LoopFailureLoad {
    private static final int FAILURES =
            5; // A loop that fails six times within a minute ends the group.
    private static final int NEW_CLIENTS = 20;
    private static final int LOAD_CLIENTS = 4;
    private static final int POISON = 13;

    private LoopFailureLoad() {}

    public static void main(String[] args) throws Exception {
        LoopGroupConfig config =
                LoopGroupConfig.DEFAULT.withLoopConfig(
                        LoopConfig.DEFAULT.withBackend(BackendKind.valueOf(args[0])));
        for (Distribution distribution :
                List.of(Distribution.REUSE_PORT, Distribution.LEAST_CONNECTIONS)) {
            try (LoopGroup group = LoopGroup.of(Integer.parseInt(args[1]), config)) {
                GroupListener listener =
                        Listener.on(
                                group,
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                                ListenerConfig.DEFAULT.withDistribution(distribution),
                                LoopFailureLoad::echo);
                group.start();
                measure(distribution, listener);
            }
        }
    }

    private static void echo(Stream stream) {
        stream.onData(
                data -> {
                    if (data.peek(0) == POISON) {
                        throw new InternalError("injected");
                    }
                    stream.write(data);
                });
    }

    private static void measure(Distribution distribution, GroupListener listener)
            throws InterruptedException, IOException {
        AtomicBoolean running = new AtomicBoolean(true);
        AtomicInteger lost = new AtomicInteger();
        List<Thread> load = new ArrayList<>();
        for (int i = 0; i < LOAD_CLIENTS; i++) {
            load.add(Thread.ofPlatform().start(() -> load(listener.address(), running, lost)));
        }
        for (int i = 0; i < 2_000; i++) {
            exchange(listener.address()); // Warms up.
        }
        for (int failure = 0; failure < FAILURES; failure++) {
            int before = lost.get();
            try (Socket poison = new Socket()) {
                poison.connect(listener.address());
                poison.getOutputStream().write(POISON);
            }
            long longest = 0;
            for (int i = 0; i < NEW_CLIENTS; i++) {
                long start = System.nanoTime();
                exchange(listener.address());
                longest = Math.max(longest, System.nanoTime() - start);
            }
            System.out.printf(
                    Locale.ROOT,
                    "%-18s new clients served within %6.1f ms, %d of %d connections lost%n",
                    distribution,
                    longest / 1e6,
                    lost.get() - before,
                    LOAD_CLIENTS);
        }
        running.set(false);
        for (Thread client : load) {
            client.join();
        }
    }

    /// Connects until it is served: a client that the failing loop accepted last is reset.
    private static void exchange(SocketAddress address) throws IOException {
        while (true) {
            try (Socket client = new Socket()) {
                client.setSoLinger(true, 0);
                client.connect(address);
                client.getOutputStream().write(1);
                if (client.getInputStream().read() == 1) {
                    return;
                }
            } catch (SocketException e) {
                // The loop that would have served it has failed: try the next one.
            }
        }
    }

    private static void load(SocketAddress address, AtomicBoolean running, AtomicInteger lost) {
        while (running.get()) {
            try (Socket client = new Socket()) {
                client.connect(address);
                while (running.get()) {
                    client.getOutputStream().write(1);
                    if (client.getInputStream().read() != 1) {
                        throw new IOException("ended");
                    }
                }
            } catch (IOException e) {
                lost.incrementAndGet();
            }
        }
    }
}
