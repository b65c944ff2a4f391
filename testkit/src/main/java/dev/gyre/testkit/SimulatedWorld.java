package dev.gyre.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.CStrings;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.os.Signal;
import dev.gyre.testkit.internal.LoopScheduler;
import dev.gyre.testkit.internal.PeerConnection;
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

/// A world for tests: one loop, or a [#group] of loops, over a simulated kernel with its own clock,
/// network and files. It opens no port and never waits. The same seed and program produce a
/// byte-identical run.
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
/// **Time** advances only while all loops are idle: [#advance] and [#run] move it to the next
/// event. Callbacks take no time. Only a loop that is busy for more than 64 ticks in a row uses ten
/// microseconds per further tick.
///
/// **Simulated** are the sockets that [dev.gyre.io.operation.Sockets] creates for the loop,
/// [#pipe], files opened by [dev.gyre.io.operation.Operations], timers, and [#signal]. Not
/// simulated are [dev.gyre.os.Pipe], child processes, file watching and standard input: they belong
/// to the real kernel, and this loop cannot wait for them.
///
/// **Threads.** Work of [EventLoop#promisify(dev.gyre.BlockingWork)], such as a blocking HTTP
/// handler, runs on threads that take turns with the loop: the world does not advance while one of
/// them runs. It continues when the work ends or waits for the loop, as [dev.gyre.Promise#await()]
/// does. So runs are repeatable. Work that waits for something else, such as a latch that a
/// callback releases, throws a [SimulationError] after ten seconds (system property
/// `gyre.workerMillis`). Other threads may submit to the loop, but the world does not wait for
/// them, and runs are then not repeatable. A [dev.gyre.io.Descriptor] dropped without a close is
/// closed by the garbage collector, which is not repeatable either.
///
/// **Failure.** Exceptions of callbacks leave [#advance] and [#run]. A wait that no event can end,
/// and a loop that ticks without progress, throw a [SimulationError]. Both show the seed and the
/// end of the trace. If buffers of the loop were not released, closing the world throws one, unless
/// the system property `gyre.leaks` is `off`.
public final class SimulatedWorld implements AutoCloseable {
    /// A test of one world.
    @FunctionalInterface
    public interface Test {
        /// Runs the test. An exception fails it.
        void run(SimulatedWorld world) throws Exception;
    }

    private static final String ONE_SEED = "gyre.seed";
    private static final String SEEDS = "gyre.seeds";
    private static final int PORTS = 1 << 16;

    private final SimulatedKernel kernel;
    private final LoopScheduler loops;

    /// Referenced here, because the garbage collector closes dropped descriptors.
    private final List<SimulatedPipe> pipes = new ArrayList<>();

    private SimulatedWorld(long seed, LoopConfig config) {
        kernel = new SimulatedKernel(seed);
        loops = new LoopScheduler(kernel, config);
    }

    /// Creates a world whose random choices follow from the seed. Exceptions of callbacks leave the
    /// run.
    public static SimulatedWorld seed(long seed) {
        return seed(
                seed,
                LoopConfig.DEFAULT
                        .withName("simulated")
                        .withFailurePolicy(FailurePolicy.PROPAGATE));
    }

    /// Creates a world with a configuration of the loop. The world replaces its executor and its
    /// longest wait.
    public static SimulatedWorld seed(long seed, LoopConfig config) {
        return new SimulatedWorld(seed, Objects.requireNonNull(config, "config"));
    }

    /// Runs a test in one world after the other, with the seeds 0, 1, 2 and so on. The first
    /// failure ends it and names the seed. The system property `gyre.seed` runs only one seed,
    /// `gyre.seeds` sets the number of seeds.
    ///
    /// @throws SimulationError with the failure as its cause
    public static void eachSeed(int count, Test test) {
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
                    test.run(world);
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
                                    + world.kernel.context(),
                            e);
                }
            }
        }
    }

    // ------------------------------------------------------------------ state

    /// Returns the loop. It may be run like any other; [#advance] and [#run] do so too.
    public EventLoop loop() {
        return loops.loop();
    }

    /// Opens a group whose loops live in this world. An exception thrown by a callback propagates
    /// to the caller of [#advance] or [#run].
    ///
    /// @param size the number of loops
    public LoopGroup group(int size) {
        LoopConfig config =
                LoopConfig.DEFAULT.withName("group").withFailurePolicy(FailurePolicy.PROPAGATE);
        return group(size, LoopGroupConfig.DEFAULT.withLoopConfig(config));
    }

    /// Opens a group whose loops live in this world, with a configuration. The world replaces the
    /// executor and the longest wait of the loops.
    ///
    /// [LoopGroup#start()] makes [#advance] and [#run] run the loops, on the thread of the test. In
    /// each round every loop runs one tick, in an order that follows from the seed. A
    /// [VirtualMachineError] that leaves the run of a loop is a failure of that loop: see
    /// [LoopGroup]. Other exceptions propagate to the caller of [#advance] or [#run].
    /// [LoopGroup#run()] and [LoopGroup#await()] would wait forever and throw. [EventLoop#stop()]
    /// has no effect here. Buffers of a loop that failed are not checked for leaks.
    ///
    /// @param size the number of loops
    public LoopGroup group(int size, LoopGroupConfig config) {
        return loops.openGroup(size, config);
    }

    /// Returns the seed.
    public long seed() {
        return kernel.seed();
    }

    /// Returns the trace so far.
    public Trace trace() {
        return kernel.trace();
    }

    /// Returns the simulated time since the world was created.
    public Duration elapsed() {
        return Duration.ofNanos(kernel.elapsedNanos());
    }

    /// Returns the number of descriptors open in the simulated kernel, for leak tests.
    public int openDescriptors() {
        return kernel.openDescriptors();
    }

    // ------------------------------------------------------------------ settings

    /// Injects these faults from now on. Default [Faults#none()].
    ///
    /// @return this world
    public SimulatedWorld faults(Faults faults) {
        kernel.faults(Objects.requireNonNull(faults, "faults"));
        return this;
    }

    /// Sets the latency of packets, and the jitter: the maximum of its random addition. Default 50
    /// µs each. Packets of one connection do not overtake each other.
    ///
    /// @return this world
    public SimulatedWorld latency(Duration latency, Duration jitter) {
        long min = nanos("latency", latency);
        long more = nanos("jitter", jitter);
        kernel.latency(Math.max(1, min), more);
        return this;
    }

    /// Sets the buffer size of sockets created from now on, per direction, from 4 KiB to 16 MiB.
    /// Default 64 KiB.
    ///
    /// @return this world
    public SimulatedWorld socketBuffers(int bytes) {
        kernel.bufferBytes(within("socketBuffers", bytes, 1 << 12, 1 << 24));
        return this;
    }

    /// Sets the maximum of open descriptors, including the three standard ones. Default 1 024.
    ///
    /// @return this world
    public SimulatedWorld descriptorLimit(int descriptors) {
        kernel.descriptorLimit(within("descriptorLimit", descriptors, 3, 1 << 20));
        return this;
    }

    /// Makes a host drop all packets from now on. Connections to it retry until TCP times out after
    /// two minutes. Datagrams to it are lost.
    ///
    /// @return this world
    public SimulatedWorld blackhole(InetAddress host) {
        kernel.blackhole(HexFormat.of().formatHex(host.getAddress()));
        return this;
    }

    /// Makes a host unreachable from now on. Sends and connects fail at once with ENETUNREACH.
    ///
    /// @return this world
    public SimulatedWorld unreachable(InetAddress host) {
        kernel.unreachable(HexFormat.of().formatHex(host.getAddress()));
        return this;
    }

    // ------------------------------------------------------------------ peers and files

    /// Connects a client to a port of the loop at the loopback address. The result is visible once
    /// the world has run.
    public SimulatedPeer connect(int port) {
        return new SimulatedPeer(PeerConnection.connect(kernel, "7f000001", port("port", port)));
    }

    /// Connects a client to an address, IPv4 or IPv6.
    public SimulatedPeer connect(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new IllegalArgumentException("the address is unresolved: " + address);
        }
        String host = HexFormat.of().formatHex(address.getAddress().getAddress());
        assert address.getAddress() instanceof Inet4Address || host.length() == 32;
        return new SimulatedPeer(PeerConnection.connect(kernel, host, address.getPort()));
    }

    /// Starts a listener outside the loop, on a port of every address.
    ///
    /// @throws SystemCallException if the port is in use
    public SimulatedListener listen(int port) {
        return new SimulatedListener(kernel, port("port", port));
    }

    /// Creates a pipe in the simulated kernel.
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

    /// Sends a signal to the subscriptions of [dev.gyre.os.Signals] on this loop. It arrives when
    /// the world runs next.
    public void signal(Signal signal) {
        kernel.raise(Objects.requireNonNull(signal, "signal").number());
    }

    /// Creates or replaces a file.
    public void writeFile(Path path, byte[] bytes) {
        kernel.writeFile(name(path), bytes.clone());
    }

    /// Returns the bytes of a file; `null` if absent.
    public byte @Nullable [] readFile(Path path) {
        return kernel.readFile(name(path));
    }

    private static String name(Path path) {
        return new String(CStrings.encode("path", path.toString()), ISO_8859_1);
    }

    // ------------------------------------------------------------------ running

    /// Advances time: runs the loops until the duration has passed and nothing due is left. If a
    /// loop is terminated, the rest of the world continues without it.
    ///
    /// @throws SimulationError if the world cannot continue
    public void advance(Duration duration) {
        long until = kernel.nanoTime() + nanos("duration", duration);
        withContext(() -> loops.advanceTo(until));
    }

    /// Runs the loops until nothing is in flight: no packet, no work, no callback. Time advances as
    /// far as necessary. Timers due until then fire; later ones are not waited for.
    ///
    /// @throws SimulationError if the world cannot continue
    public void run() {
        withContext(loops::run);
    }

    private void withContext(Runnable run) {
        try {
            run.run();
        } catch (Throwable e) {
            if (!(e instanceof SimulationError)) {
                e.addSuppressed(new SimulationContext(kernel.context()));
            }
            throw e;
        }
    }

    /// Closes the loops and all descriptors of the simulated kernel.
    ///
    /// @throws SimulationError if buffers of the loops were not released; the message contains the
    ///     places of their allocation
    @Override
    public void close() {
        try {
            loops.close();
            kernel.workers().close();
        } finally {
            pipes.forEach(SimulatedPipe::close);
            kernel.shutDown();
        }
        List<Throwable> leaks = loops.leaks();
        if (!leaks.isEmpty()) {
            throw SimulationError.ofLeaks(leaks, kernel.context());
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

    private static int within(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    what + " must be from " + min + " to " + max + ", but is " + value);
        }
        return value;
    }
}
