package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulationError;
import dev.gyre.testkit.Trace;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// A kernel in Java: descriptors, network, files, clock and randomness. It implements the same
/// interfaces as the real one, see [#syscalls()].
///
/// This object is the lock for all of it, so any thread may close a descriptor. Runs repeat exactly
/// only if one thread does everything.
public final class SimulatedKernel {
    /// Not used by core.
    static final int ESPIPE = 29;

    private static final int TRACE_TAIL = 40;

    private final long seed;
    final SeededRandom random;
    final EventSchedule schedule = new EventSchedule();
    final TraceRecorder recorder = new TraceRecorder(schedule);
    final FaultInjector injector;
    final DescriptorTable descriptors;
    final Network network = new Network(this);
    final MemoryFiles files = new MemoryFiles(this);

    // Guarded by this.
    final List<SignalFile> signalFiles = new ArrayList<>();
    int bufferBytes = 1 << 16;
    private long serials;
    private byte[] scratch = new byte[4_096];

    /// Counts changes, to tell a spinning loop from one that makes progress.
    private long progress;

    // Only the thread that advances time.
    private boolean ranOutside;

    final TransferFaults transfers = new TransferFaults(this);
    private final WorkerThreads workers = new WorkerThreads(this);
    private final SyscallFactories syscalls;

    public SimulatedKernel(long seed) {
        this.seed = seed;
        random = new SeededRandom(seed);
        injector = new FaultInjector(random);
        descriptors = new DescriptorTable(injector);
        // Stateless, so all threads share one instance each.
        DescriptorCalls kernels = new DescriptorCalls(this);
        NetworkCalls sockets = new NetworkCalls(this);
        StorageCalls storage = new StorageCalls(this);
        syscalls = new SyscallFactories(() -> kernels, () -> sockets, () -> storage);
    }

    public SyscallFactories syscalls() {
        return syscalls;
    }

    public long seed() {
        return seed;
    }

    /// Returns the executor for work outside the loop.
    public WorkerThreads workers() {
        return workers;
    }

    // ------------------------------------------------------------------ for the world

    public synchronized void faults(Faults faults) {
        injector.faults = faults;
    }

    /// Sets the latency of packets, and the maximum of its random addition.
    public synchronized void latency(long nanos, long jitterNanos) {
        network.latencyNanos = nanos;
        network.jitterNanos = jitterNanos;
    }

    /// Sets the buffer size of sockets created from now on, per direction.
    public synchronized void bufferBytes(int bytes) {
        bufferBytes = bytes;
    }

    public synchronized void descriptorLimit(int limit) {
        descriptors.limit = limit;
    }

    /// Drops all packets to a host.
    ///
    /// @param host its address in hexadecimal
    public synchronized void blackhole(String host) {
        network.blackhole(host);
    }

    /// Makes a host unreachable.
    ///
    /// @param host its address in hexadecimal
    public synchronized void unreachable(String host) {
        network.unreachable(host);
    }

    public synchronized int openDescriptors() {
        return descriptors.size();
    }

    public synchronized String describeDescriptors() {
        return descriptors.list();
    }

    public synchronized Trace trace() {
        return recorder.snapshot();
    }

    public long nanoTime() {
        return schedule.nowNanos();
    }

    /// Returns the simulated time since the world was created.
    public long elapsedNanos() {
        return schedule.nowNanos() - EventSchedule.START_NANOS;
    }

    public synchronized void raise(int signal) {
        note("signal " + signal);
        for (SignalFile file : List.copyOf(signalFiles)) {
            file.raise(signal);
        }
    }

    /// Ends the world. No further event runs.
    public synchronized void shutDown() {
        descriptors.closeAll();
        schedule.clear();
    }

    /// Schedules user code, which runs without the lock.
    public synchronized void runOutside(Runnable action) {
        schedule.outsideAfter(injector.isLate() ? injector.delayNanos() : 0, action);
    }

    public synchronized void writeFile(String path, byte[] bytes) {
        MemoryFiles.Content content = files.create(path);
        content.truncate();
        content.write(bytes, bytes.length, 0);
    }

    public synchronized byte @Nullable [] readFile(String path) {
        MemoryFiles.Content content = files.find(path);
        return content == null ? null : content.copy();
    }

    // ------------------------------------------------------------------ time

    /// Returns whether an event is scheduled.
    public synchronized boolean hasEvents() {
        return !schedule.isEmpty();
    }

    /// Returns the time of the next event. There must be one.
    public synchronized long nextNanos() {
        return schedule.nextNanos();
    }

    public synchronized void moveTo(long nanos) {
        if (nanos - schedule.nowNanos() > 0) {
            schedule.moveTo(nanos);
            progressed();
        }
    }

    /// Advances time for a busy loop. Not counted as progress.
    synchronized void advanceBusy(long nanos) {
        schedule.moveTo(schedule.nowNanos() + nanos);
    }

    /// Runs all due events.
    ///
    /// @return whether an event ran
    public boolean runDue() {
        boolean any = false;
        while (true) {
            workers.scheduleReady();
            EventSchedule.Happening due;
            synchronized (this) {
                due = schedule.takeDue();
                if (due == null) {
                    return any;
                }
                progressed();
                if (!due.outside()) {
                    due.action().run();
                }
            }
            if (due.outside()) {
                due.action().run(); // User code: no lock is held.
                ranOutside = true;
            }
            any = true;
        }
    }

    /// Runs events and workers until a condition holds, in any simulated time.
    ///
    /// @throws SimulationError if nothing is left to run
    void runUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (!runDue()) {
                if (!hasEvents()) {
                    throw failure("nothing is left to run, but a loop has not terminated");
                }
                moveTo(nextNanos());
            }
        }
    }

    /// Returns whether user code ran since the last call.
    boolean pollRanOutside() {
        boolean ran = ranOutside;
        ranOutside = false;
        return ran;
    }

    synchronized long progress() {
        return progress;
    }

    void progressed() {
        progress++;
    }

    // ------------------------------------------------------------------ for the parts

    long nextSerial() {
        return ++serials;
    }

    void note(String what) {
        recorder.note(what);
    }

    /// Returns a scratch array for transfers between memory and a file. Valid until the next call.
    byte[] scratch(int length) {
        if (scratch.length < length) {
            scratch = new byte[Math.max(length, 2 * scratch.length)];
        }
        return scratch;
    }

    /// Allocates a number for a new file, or closes the file and returns an error.
    int number(OpenFile file) {
        int refused = injector.exhaustion();
        int result = refused != 0 ? -refused : descriptors.add(file);
        if (result < 0) {
            file.closed();
        }
        return result;
    }

    /// Allocates numbers for both files and stores them, or for neither.
    int numberPair(OpenFile one, OpenFile other, long pairAddress) {
        int refused = injector.exhaustion();
        if (refused != 0 || !descriptors.hasRoomFor(2)) {
            one.closed();
            other.closed();
            return -(refused != 0 ? refused : Errno.EMFILE);
        }
        Memory.putInt(pairAddress, descriptors.add(one));
        Memory.putInt(pairAddress + Integer.BYTES, descriptors.add(other));
        return 0;
    }

    /// Fails if a blocking call would block: the only thread is in this call.
    long unlessBlocking(String call, int fd, OpenFile file, long result, int flags) {
        if (result == -Errno.EAGAIN && file.isBlocking() && (flags & Linux.MSG_DONTWAIT) == 0) {
            throw failure(
                    call
                            + " of descriptor "
                            + fd
                            + " would block forever: make it non-blocking"
                            + " (Descriptor.nonBlocking)");
        }
        return result;
    }

    /// Returns an error with seed and trace.
    SimulationError failure(String what) {
        return new SimulationError(what + "\n" + context());
    }

    /// Returns the seed and the end of the trace.
    public synchronized String context() {
        return "simulated world with seed "
                + seed
                + ", repeat it with SimulatedWorld.seed("
                + seed
                + "L)\n"
                + "last lines of the trace:\n"
                + recorder.snapshot().tail(TRACE_TAIL);
    }
}
