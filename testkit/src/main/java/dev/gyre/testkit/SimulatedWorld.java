package dev.gyre.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.CStrings;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.os.Signal;
import dev.gyre.testkit.internal.PeerConnection;
import dev.gyre.testkit.internal.SimulatedBackend;
import dev.gyre.testkit.internal.SimulatedKernel;

import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// A world for tests: one loop over a simulated kernel with its own clock, network and files. Nothing in it is real: no
/// port is opened, no time is waited for, and the same seed and program give the same run, to the byte.
///
/// ```java
/// try (var world = SimulatedWorld.seed(42)) {
///     serve(world.loop(), 80);
///     var client = world.connect(80);
///     world.advance(Duration.ofSeconds(29));
///     assertThat(client.isOpen()).isTrue();
///     world.advance(Duration.ofSeconds(2));
///     assertThat(client.isClosed()).isTrue();
/// }
/// ```
///
/// **Time** passes only while the loop has nothing to do: [#advance] and [#run] move it to the next thing that happens. A
/// callback takes no time at all; only a loop that is busy for more than 64 turns on end has ten microseconds pass with each.
///
/// **Simulated** are the sockets that [dev.gyre.io.operation.Sockets] makes for the loop, [#pipe], files opened by
/// [dev.gyre.io.operation.Operations], timers, and [#signal]. Not simulated are [dev.gyre.os.Pipe], child processes, file watching and
/// standard input: they are of the real kernel, which this loop cannot wait for.
///
/// **Threads.** One thread does everything. Work of [EventLoop#promisify(dev.gyre.Work)] and of files is run by that thread too,
/// one after the other, while the loop would wait for it: so it must not wait for other such work. Other threads
/// may submit to the loop, but nobody waits for them, and the run is then not the same each time. A
/// [dev.gyre.io.Descriptor] that is dropped without being closed is closed when the garbage collector finds it, which is
/// not the same each time either.
///
/// **Failure.** What a callback throws leaves [#advance] and [#run]. A wait that nothing could ever end, and a loop that turns
/// without getting anywhere, are a [SimulationError]. Both show the seed and the end of the trace.
/// Buffers of the loop's that were not released are one when the world is closed, unless the
/// system property `gyre.leaks` is `off`.
public final class SimulatedWorld implements AutoCloseable {
    /// The longest that a loop may be told to wait at a time.
    private static final Duration LONGEST_WAIT = Duration.ofDays(1);

    /// More turns than this at one instant are a spin.
    private static final int MOST_TURNS = 1_000_000;

    private static final int QUIET_TURNS = 2;
    private static final String ONE_SEED = "gyre.seed";
    private static final String SEEDS = "gyre.seeds";
    private static final int PORTS = 1 << 16;

    private final SimulatedKernel kernel;
    private final SimulatedBackend backend;
    private final Loop loop;

    /// Held for the sake of scripts: one that is dropped would be closed by the garbage collector.
    private final List<SimulatedPipe> pipes = new ArrayList<>();

    private SimulatedWorld(long seed, LoopConfig config) {
        kernel = new SimulatedKernel(seed);
        LoopConfig own = config.withExecutor(kernel::runOutside).withMaxWait(LONGEST_WAIT);
        backend = new SimulatedBackend(kernel, own.eventsPerWait(), LONGEST_WAIT.toNanos());
        loop = Loop.open(own, backend);
        loop.operations().leaks().enableUnlessOff();
    }

    /// A world in which everything that is left to luck follows from the seed. What a callback throws leaves the run.
    public static SimulatedWorld seed(long seed) {
        return seed(
                seed,
                LoopConfig.DEFAULT
                        .withName("simulated")
                        .withFailurePolicy(FailurePolicy.PROPAGATE));
    }

    /// The same with a configuration of the loop. Its executor and its longest wait are the world's own.
    public static SimulatedWorld seed(long seed, LoopConfig config) {
        return new SimulatedWorld(seed, Objects.requireNonNull(config, "config"));
    }

    /// Runs a test in one world after the other, with the seeds 0, 1, 2 and so on. The first failure ends it, and says which
    /// seed it was. The system property `gyre.seed` runs one seed only, `gyre.seeds` another number of them.
    ///
    /// @throws SimulationError with the failure as its cause
    public static void eachSeed(int count, Consumer<? super SimulatedWorld> test) {
        Objects.requireNonNull(test, "test");
        if (count < 1) {
            throw new IllegalArgumentException("count must be positive, but is " + count);
        }
        Long only = Long.getLong(ONE_SEED);
        long first = only != null ? only : 0;
        long last = only != null ? only : Integer.getInteger(SEEDS, count) - 1L;
        for (long seed = first; seed <= last; seed++) {
            try (SimulatedWorld world = seed(seed)) {
                try {
                    test.accept(world);
                } catch (Throwable e) {
                    throw new SimulationError(
                            "failed with seed "
                                    + seed
                                    + " (-D"
                                    + ONE_SEED
                                    + "="
                                    + seed
                                    + " runs it alone): "
                                    + e
                                    + "\n"
                                    + world.kernel.story(),
                            e);
                }
            }
        }
    }

    // ------------------------------------------------------------------ what there is

    /// The loop. It may be run like any other; [#advance] and [#run] do so too.
    public EventLoop loop() {
        return loop;
    }

    /// The seed.
    public long seed() {
        return kernel.seed();
    }

    /// What has happened so far.
    public Trace trace() {
        return kernel.trace();
    }

    /// How much simulated time has passed since the world began.
    public Duration elapsed() {
        return Duration.ofNanos(kernel.elapsedNanos());
    }

    /// How many descriptors are open in the simulated kernel, for tests of what leaks.
    public int openDescriptors() {
        return kernel.openDescriptors();
    }

    // ------------------------------------------------------------------ how it is

    /// Has these faults happen from now on. At first there are none.
    ///
    /// @return this world
    public SimulatedWorld faults(Faults faults) {
        kernel.faults(Objects.requireNonNull(faults, "faults"));
        return this;
    }

    /// How long a packet takes from now on: the latency, and by luck up to the jitter more. At first 50 µs each. Packets of
    /// one connection do not overtake each other.
    ///
    /// @return this world
    public SimulatedWorld latency(Duration latency, Duration jitter) {
        long least = nanos("latency", latency);
        long more = nanos("jitter", jitter);
        kernel.latency(Math.max(1, least), more);
        return this;
    }

    /// How many bytes a socket made from now on holds in each direction, from 4 KiB to 16 MiB. At first 64 KiB.
    ///
    /// @return this world
    public SimulatedWorld socketBuffers(int bytes) {
        kernel.bufferBytes(within("socketBuffers", bytes, 1 << 12, 1 << 24));
        return this;
    }

    /// How many descriptors may be open at a time, with the three that every process has. At first 1 024.
    ///
    /// @return this world
    public SimulatedWorld descriptorLimit(int descriptors) {
        kernel.descriptorLimit(within("descriptorLimit", descriptors, 3, 1 << 20));
        return this;
    }

    /// Has a host answer nothing from now on: who connects there waits, and tries again, until TCP gives up after two
    /// minutes; datagrams to it are lost.
    ///
    /// @return this world
    public SimulatedWorld silence(InetAddress host) {
        kernel.silence(HexFormat.of().formatHex(host.getAddress()));
        return this;
    }

    /// Has no way lead to a host from now on: who sends there is told at once (ENETUNREACH).
    ///
    /// @return this world
    public SimulatedWorld cutOff(InetAddress host) {
        kernel.cutOff(HexFormat.of().formatHex(host.getAddress()));
        return this;
    }

    // ------------------------------------------------------------------ who else is there

    /// A client that connects to a port of the loop's, at the loopback address. Whether that works is seen when the world
    /// has run.
    public SimulatedPeer connect(int port) {
        return new SimulatedPeer(PeerConnection.connect(kernel, "7f000001", port("port", port)));
    }

    /// The same to an address, IPv4 or IPv6.
    public SimulatedPeer connect(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new IllegalArgumentException("an address that is not resolved: " + address);
        }
        String host = HexFormat.of().formatHex(address.getAddress().getAddress());
        assert address.getAddress() instanceof Inet4Address || host.length() == 32;
        return new SimulatedPeer(PeerConnection.connect(kernel, host, address.getPort()));
    }

    /// A server outside the loop, at a port of every address.
    ///
    /// @throws SystemCallException if the port is taken
    public SimulatedListener listen(int port) {
        return new SimulatedListener(kernel, port("port", port));
    }

    /// A pipe of the simulated kernel's.
    ///
    /// @throws SystemCallException if the kernel refuses
    public SimulatedPipe pipe() {
        FdPair pair = new FdPair();
        var kernels = kernel.syscalls().kernels();
        int result = kernels.get().pipe2(pair.address(), Linux.O_NONBLOCK | Linux.O_CLOEXEC);
        if (result < 0) {
            throw new SystemCallException("pipe2", -result, SystemCallException.NO_FD);
        }
        SimulatedPipe pipe =
                new SimulatedPipe(
                        OpenDescriptor.fresh(kernels, pair.first(), true),
                        OpenDescriptor.fresh(kernels, pair.second(), true));
        pipes.add(pipe);
        return pipe;
    }

    /// Sends a signal to whoever takes it by [dev.gyre.os.Signals] on this loop. It arrives when the world runs next.
    public void signal(Signal signal) {
        kernel.raise(Objects.requireNonNull(signal, "signal").number());
    }

    /// Makes a file, or gives it another content.
    public void writeFile(Path path, byte[] content) {
        kernel.writeFile(name(path), content.clone());
    }

    /// What a file contains; null if there is none.
    public byte @Nullable [] readFile(Path path) {
        return kernel.readFile(name(path));
    }

    private static String name(Path path) {
        return new String(CStrings.encode("path", path.toString()), ISO_8859_1);
    }

    // ------------------------------------------------------------------ running

    /// Lets time pass: runs the loop until so much of it has, and nothing is left that is due by then. If the
    /// loop is over, the rest of the world goes on without it.
    ///
    /// @throws SimulationError if it cannot be
    public void advance(Duration duration) {
        long until = kernel.nanoTime() + nanos("duration", duration);
        backend.expectUntil(until);
        told(
                () -> {
                    while (until - kernel.nanoTime() > 0) {
                        runUntil(until);
                    }
                    settle();
                });
    }

    /// Runs the loop until nothing is under way any more: no packet, no work, no callback. Time passes as far as that takes;
    /// timers that are due meanwhile fire, later ones are not waited for.
    ///
    /// @throws SimulationError if it cannot be
    public void run() {
        told(
                () -> {
                    settle();
                    while (kernel.hasAgenda()) {
                        runUntil(kernel.nextNanos());
                        settle();
                    }
                });
    }

    private void runUntil(long nanos) {
        long left = nanos - kernel.nanoTime();
        if (!isOver()) {
            loop.runFor(Duration.ofNanos(Math.max(0, left)));
        } else {
            boolean early = kernel.hasAgenda() && kernel.nextNanos() - nanos < 0;
            kernel.moveTo(early ? kernel.nextNanos() : nanos);
            kernel.runDue();
        }
    }

    /// Does what is due at this instant, and what that leads to at once.
    private void settle() {
        int quiet = 0;
        for (int turns = 0; quiet < QUIET_TURNS; turns++) {
            if (turns == MOST_TURNS) {
                throw new SimulationError(
                        "the world does not come to rest: something happens at one instant over and"
                                + " over\n"
                                + kernel.story());
            }
            boolean happened = isOver() ? kernel.runDue() : loop.runFor(Duration.ZERO) > 0;
            quiet = happened || loop.metrics().depth() > 0 ? 0 : quiet + 1;
        }
    }

    private boolean isOver() {
        return loop.state() == LoopState.TERMINATED;
    }

    private void told(Runnable run) {
        try {
            run.run();
        } catch (Throwable e) {
            if (!(e instanceof SimulationError)) {
                e.addSuppressed(new Circumstances(kernel.story()));
            }
            throw e;
        }
    }

    /// Closes the loop, and everything that is open in the simulated kernel.
    ///
    /// @throws SimulationError if buffers that were taken of the loop were not released, with the
    ///     places where that was
    @Override
    public void close() {
        try {
            loop.close();
        } finally {
            pipes.forEach(SimulatedPipe::close);
            kernel.shutDown();
        }
        List<Throwable> leaks = loop.operations().leaks().drainReported();
        if (!leaks.isEmpty()) {
            throw SimulationError.ofLeaks(leaks, kernel.story());
        }
    }

    @Override
    public String toString() {
        return "SimulatedWorld[seed " + seed() + ", after " + elapsed() + "]";
    }

    // ------------------------------------------------------------------ checks

    private static long nanos(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.isNegative()) {
            throw new IllegalArgumentException(what + " must not be negative: " + duration);
        }
        try {
            return duration.toNanos();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(what + " is too long: " + duration, e);
        }
    }

    private static int port(String what, int port) {
        return within(what, port, 1, PORTS - 1);
    }

    private static int within(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    what + " must be from " + least + " to " + most + ", but is " + value);
        }
        return value;
    }
}
