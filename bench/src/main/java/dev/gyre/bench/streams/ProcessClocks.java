package dev.gyre.bench.streams;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// The CPU clocks of processes, as in `load.h`. The first process is the measured one. The use of
/// the other ones and of this process counts neither for it nor as foreign load.
final class ProcessClocks {
    private static final long REST_NANOS = 2_000_000;

    private static final int CLOCK_PROCESS_CPUTIME_ID = 2;

    /// The value of `sysconf(_SC_CLK_TCK)` on every Linux with a JVM.
    private static final long NANOS_A_TICK = 10_000_000;

    private static final MethodHandle CLOCK_GETTIME = link();

    private final List<Long> processes;

    /// The processors that the processes may use; further use counts as foreign load.
    private final BitSet cores = new BitSet();

    private final MemorySegment timespec = Arena.ofAuto().allocate(2 * Long.BYTES, Long.BYTES);

    private ProcessClocks(List<Long> processes) throws IOException {
        this.processes = processes;
        addCores("self");
        for (long process : processes) {
            addCores(Long.toString(process));
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("clock_gettime"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    }

    /// @param pids separated by commas
    static ProcessClocks of(String pids) throws IOException {
        var processes = new ArrayList<Long>();
        for (String pid : pids.split(",", -1)) {
            processes.add(Long.parseLong(pid));
        }
        return new ProcessClocks(processes);
    }

    /// All values in nanoseconds.
    record Reading(long measured, long known, long wall, long busy) {
        /// Returns a copy whose wall time starts now.
        Reading fromNow() {
            return new Reading(measured, known, System.nanoTime(), busy);
        }

        /// Returns the CPU time of the measured process, the wall time, and the CPU time of others.
        String since(Reading begun) {
            // The clocks of /proc/stat are coarse.
            long others = Math.max(0, busy - begun.busy - (known - begun.known));
            return (measured - begun.measured) + " " + (wall - begun.wall) + " " + others;
        }
    }

    /// Same as [#read()] while the measured process is idle. The CPU time of another process is
    /// exact as of its last sleep, else as of the last clock tick. So this waits until it sleeps.
    Reading readAtRest() throws IOException {
        long wall = System.nanoTime();
        LockSupport.parkNanos(REST_NANOS);
        Reading reading = read();
        return new Reading(reading.measured, reading.known, wall, reading.busy);
    }

    Reading read() throws IOException {
        long measured = nanos(clockOf(processes.getFirst()));
        long known = nanos(CLOCK_PROCESS_CPUTIME_ID);
        for (long process : processes) {
            known += nanos(clockOf(process));
        }
        return new Reading(measured, known, System.nanoTime(), busyNanos());
    }

    /// Computes the clock id as `clock_getcpuclockid` does: the inverted pid in the upper bits, and
    /// two for the scheduler's clock.
    private static int clockOf(long process) {
        return (int) (~process << 3 | 2);
    }

    private long nanos(int clock) {
        try {
            int result = (int) CLOCK_GETTIME.invokeExact(clock, timespec);
            if (result != 0) {
                throw new IllegalStateException("clock_gettime(" + clock + ") failed");
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return timespec.get(JAVA_LONG, 0) * 1_000_000_000 + timespec.get(JAVA_LONG, Long.BYTES);
    }

    private void addCores(String process) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", process, "status"))) {
            if (line.startsWith("Cpus_allowed_list:")) {
                cores.or(parseCores(line.substring(line.indexOf(':') + 1).strip()));
            }
        }
    }

    /// Parses a list such as `0-3,8`.
    static BitSet parseCores(String list) {
        var cores = new BitSet();
        for (String range : list.split(",", -1)) {
            String[] ends = range.split("-", -1);
            cores.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return cores;
    }

    private long busyNanos() throws IOException {
        long busy = 0;
        for (String line : Files.readAllLines(Path.of("/proc/stat"))) {
            // cpu0 user nice system idle iowait irq softirq steal
            String[] ticks = line.split(" +", -1);
            if (ticks[0].matches("cpu\\d+") && cores.get(Integer.parseInt(ticks[0].substring(3)))) {
                for (int field : new int[] {1, 2, 3, 6, 7, 8}) {
                    busy += Long.parseLong(ticks[field]);
                }
            }
        }
        return busy * NANOS_A_TICK;
    }
}
