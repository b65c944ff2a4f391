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

/// A kernel in Java: what its descriptors stand for, its network, its files, its clock, its luck. It is used
/// through the same interfaces as the real one, see [#syscalls()].
///
/// One lock, this object, guards all of it, so that a descriptor may be closed by any thread. The run is the same
/// each time only if one thread does everything.
public final class SimulatedKernel {
    /// Not among those that the core ever meets.
    static final int ESPIPE = 29;

    private static final int TRACE_TAIL = 40;

    private final long seed;
    final Dice dice;
    final Agenda agenda = new Agenda();
    final Recorder recorder = new Recorder(agenda);
    final Mischief mischief;
    final DescriptorTable descriptors;
    final Network network = new Network(this);
    final MemoryFiles files = new MemoryFiles(this);

    // Guarded by this.
    final List<SignalFile> signalFiles = new ArrayList<>();
    int bufferBytes = 1 << 16;
    private long serials;
    private byte[] scratch = new byte[4_096];

    /// Counts what moves anything, for telling a loop that turns from one that gets somewhere.
    private long progress;

    // Whoever lets time pass.
    private boolean ranOutside;

    final Moves moves = new Moves(this);
    private final SyscallFactories syscalls;

    public SimulatedKernel(long seed) {
        this.seed = seed;
        dice = new Dice(seed);
        mischief = new Mischief(dice);
        descriptors = new DescriptorTable(mischief);
        // They have nothing of their own, so that one of each does for every thread.
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

    // ------------------------------------------------------------------ for the world

    public synchronized void faults(Faults faults) {
        mischief.faults = faults;
    }

    /// How long a packet takes, and how much longer at most.
    public synchronized void latency(long nanos, long jitterNanos) {
        network.latencyNanos = nanos;
        network.jitterNanos = jitterNanos;
    }

    /// How much a socket made from now on holds in each direction.
    public synchronized void bufferBytes(int bytes) {
        bufferBytes = bytes;
    }

    public synchronized void descriptorLimit(int limit) {
        descriptors.limit = limit;
    }

    /// Has a host answer nothing from now on.
    ///
    /// @param host its address in hexadecimal
    public synchronized void silence(String host) {
        network.silence(host);
    }

    /// Has no way lead to a host from now on.
    ///
    /// @param host its address in hexadecimal
    public synchronized void cutOff(String host) {
        network.cutOff(host);
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
        return agenda.nowNanos();
    }

    /// Since the world began.
    public long elapsedNanos() {
        return agenda.nowNanos() - Agenda.START_NANOS;
    }

    public synchronized void raise(int signal) {
        note("signal " + signal);
        for (SignalFile file : List.copyOf(signalFiles)) {
            file.raise(signal);
        }
    }

    /// Ends the world: nothing happens any more.
    public synchronized void shutDown() {
        descriptors.closeAll();
        agenda.clear();
    }

    /// Has user code run soon, outside the kernel.
    public synchronized void runOutside(Runnable action) {
        agenda.outsideAfter(mischief.isLate() ? mischief.delayNanos() : 0, action);
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

    /// Whether anything is to come.
    public synchronized boolean hasAgenda() {
        return !agenda.isEmpty();
    }

    /// When the next thing is to come; only if there is one.
    public synchronized long nextNanos() {
        return agenda.nextNanos();
    }

    public synchronized void moveTo(long nanos) {
        if (nanos - agenda.nowNanos() > 0) {
            agenda.moveTo(nanos);
            progressed();
        }
    }

    /// Time that passes because the loop is busy: no sign that it gets anywhere.
    synchronized void creep(long nanos) {
        agenda.moveTo(agenda.nowNanos() + nanos);
    }

    /// Lets everything happen whose time has come.
    ///
    /// @return whether anything did
    public boolean runDue() {
        boolean any = false;
        while (true) {
            Agenda.Happening due;
            synchronized (this) {
                due = agenda.takeDue();
                if (due == null) {
                    return any;
                }
                progressed();
                if (!due.outside()) {
                    due.action().run();
                }
            }
            if (due.outside()) {
                due.action().run(); // It may do anything, so no lock is held.
                ranOutside = true;
            }
            any = true;
        }
    }

    /// Whether user code has run since this was last asked.
    boolean takeRanOutside() {
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

    /// Room for bytes on their way between memory and a file. Until the next call.
    byte[] scratch(int length) {
        if (scratch.length < length) {
            scratch = new byte[Math.max(length, 2 * scratch.length)];
        }
        return scratch;
    }

    /// Gives one that was just made its number; or refuses, and it is gone.
    int number(OpenFile file) {
        int refused = mischief.exhaustion();
        int result = refused != 0 ? -refused : descriptors.add(file);
        if (result < 0) {
            file.closed();
        }
        return result;
    }

    /// Gives both their numbers and stores them, or neither.
    int numberPair(OpenFile one, OpenFile other, long pairAddress) {
        int refused = mischief.exhaustion();
        if (refused != 0 || !descriptors.hasRoomFor(2)) {
            one.closed();
            other.closed();
            return -(refused != 0 ? refused : Errno.EMFILE);
        }
        Memory.putInt(pairAddress, descriptors.add(one));
        Memory.putInt(pairAddress + Integer.BYTES, descriptors.add(other));
        return 0;
    }

    /// A call that would block has nobody to wait for: there is one thread, and it is in this call.
    long unlessBlocking(String call, int fd, OpenFile file, long result, int flags) {
        if (result == -Errno.EAGAIN && file.isBlocking() && (flags & Linux.MSG_DONTWAIT) == 0) {
            throw failure(
                    call
                            + " of descriptor "
                            + fd
                            + " would block for ever: it was not made non-blocking"
                            + " (Descriptor.nonBlocking)");
        }
        return result;
    }

    /// An error that tells how to see it again.
    SimulationError failure(String what) {
        return new SimulationError(what + "\n" + story());
    }

    /// Seed and end of the trace, for a message.
    public synchronized String story() {
        return "in the simulated world of seed "
                + seed
                + ": SimulatedWorld.seed("
                + seed
                + "L) runs it again\n"
                + "last lines of the trace:\n"
                + recorder.snapshot().tail(TRACE_TAIL);
    }
}
