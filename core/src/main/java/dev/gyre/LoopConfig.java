package dev.gyre;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.internal.base.MemoryBudget;
import dev.gyre.metrics.LoopObserver;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/// How a loop behaves. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = LoopConfig.DEFAULT.withName("edge-0").withFailurePolicy(FailurePolicy.PROPAGATE);
/// ```
public final class LoopConfig implements Cloneable {
    /// The configuration of [EventLoop#open()].
    public static final LoopConfig DEFAULT = new LoopConfig();

    private String name = "gyre";
    private int taskBudget = 1_024;
    private int highWaterMark = 100_000;
    private int microtaskBudget = 1_024;
    private int ioBatch = 64;
    private boolean strictMicrotasks = false;
    private FailurePolicy failurePolicy = FailurePolicy.ISOLATE;
    private Thread.UncaughtExceptionHandler uncaughtHandler = LogUncaught.INSTANCE;
    private LoopObserver observer = LoopObserver.logging();
    private Executor executor = VirtualThreads.INSTANCE;
    private boolean promiseTracing = false;
    private int eventsPerWait = 1_024;
    private Duration maxWait = Duration.ofMinutes(5);
    private Optional<BackendKind> backend = Optional.empty();
    private boolean backendRequired;
    private Optional<BackendKind> preferredBackend = Optional.empty();
    private int operationBudget = 1_024;
    private int receiveBuffers = 256;
    private int receiveBufferBytes = 1 << 14;

    /// Zero for a share of the process budget.
    private long bufferMemory = 0;

    /// The number of loops that share the budget; zero for one per processor.
    private int bufferMemoryLoops = 0;

    private int preallocatedDescriptors = 0;
    private int preallocatedOperations = 0;

    private LoopConfig() {}

    /// The loop's name in messages. Default `gyre`.
    public String name() {
        return name;
    }

    /// How many tasks from [EventLoop#submit] run in one tick. Default 1 024.
    public int taskBudget() {
        return taskBudget;
    }

    /// How many tasks from [EventLoop#submit] may wait. Default 100 000.
    public int highWaterMark() {
        return highWaterMark;
    }

    /// How many microtasks run in one tick. Default 1 024.
    public int microtaskBudget() {
        return microtaskBudget;
    }

    /// How many I/O callbacks run between two microtask barriers, unless [#strictMicrotasks()]. Default
    /// 64.
    public int ioBatch() {
        return ioBatch;
    }

    /// Whether microtasks are drained after every single I/O callback. Default false.
    public boolean strictMicrotasks() {
        return strictMicrotasks;
    }

    /// What happens when a callback throws. Default [FailurePolicy#ISOLATE].
    public FailurePolicy failurePolicy() {
        return failurePolicy;
    }

    /// Who gets a callback's throwable under [FailurePolicy#ISOLATE]. Default: logged with its stack.
    public Thread.UncaughtExceptionHandler uncaughtHandler() {
        return uncaughtHandler;
    }

    /// Who hears of overload and breached budgets. Default [LoopObserver#logging()].
    public LoopObserver observer() {
        return observer;
    }

    /// What runs the work of [EventLoop#promisify(Work)]. Default: a new virtual thread for each, which
    /// inherits nothing from the loop's.
    public Executor executor() {
        return executor;
    }

    /// Whether each promise remembers where it was made. Default false.
    public boolean promiseTracing() {
        return promiseTracing;
    }

    /// How many kernel events one wait collects. Default 1 024.
    public int eventsPerWait() {
        return eventsPerWait;
    }

    /// The longest single wait in the kernel. Default five minutes.
    public Duration maxWait() {
        return maxWait;
    }

    /// Which backend to wait on. Default: the one that the system property `gyre.backend` names, else the
    /// one that is preferred, else the one that works everywhere on this system: epoll or kqueue.
    public Optional<BackendKind> backend() {
        return backend;
    }

    /// Whether a loop cannot be opened where the kernel refuses its [#backend()]. Default: no, it waits on another one.
    public boolean isBackendRequired() {
        return backendRequired;
    }

    /// Which backend to wait on where nobody names one and it works. Default: none.
    public Optional<BackendKind> preferredBackend() {
        return preferredBackend;
    }

    /// How many completions of operations are handed out in one tick. Default 1 024.
    public int operationBudget() {
        return operationBudget;
    }

    /// How many buffers the loop has for [dev.gyre.io.operation.Operations#receive]. Default 256.
    public int receiveBuffers() {
        return receiveBuffers;
    }

    /// How large each of them is. Default 16 KiB.
    public int receiveBufferBytes() {
        return receiveBufferBytes;
    }

    /// How much memory the loop's pooled buffers may have in use together: those of streams and of
    /// [dev.gyre.io.Buffer#acquire]. Excludes [#receiveBuffers()].
    ///
    /// Default: an equal share of the process budget for one loop per processor, up to 256 MiB. The
    /// system property `gyre.bufferMemory`, such as `512m`, sets the budget. Its default is the
    /// maximum heap size. A loop with a share always opens, with less if the budget is used up.
    /// `-XX:MaxDirectMemorySize` does not count this memory. The configuration of an open loop
    /// contains the amount that the loop reserved.
    public long bufferMemory() {
        long receiving = (long) receiveBuffers * receiveBufferBytes;
        return bufferMemory > 0
                ? bufferMemory
                : MemoryBudget.PROCESS.share(bufferMemoryLoops, receiving);
    }

    /// Whether [#bufferMemory()] is a share of the budget. It shrinks if other loops have left
    /// less.
    public boolean hasBufferMemoryShare() {
        return bufferMemory == 0;
    }

    /// For how many descriptors the loop keeps what it needs for operations from the beginning. Default 0: it is made
    /// when first needed, and then kept.
    public int preallocatedDescriptors() {
        return preallocatedDescriptors;
    }

    /// How many operations of each sort the loop makes at the beginning. Default 0.
    public int preallocatedOperations() {
        return preallocatedOperations;
    }

    /// A copy with this [#name()].
    public LoopConfig withName(String name) {
        Objects.requireNonNull(name, "name");
        LoopConfig copy = copy();
        copy.name = name;
        return copy;
    }

    /// A copy with this [#taskBudget()], at least 1.
    public LoopConfig withTaskBudget(int tasks) {
        LoopConfig copy = copy();
        copy.taskBudget = within("taskBudget", tasks, 1, Integer.MAX_VALUE);
        return copy;
    }

    /// A copy with this [#highWaterMark()], from 1 to 16 777 216.
    public LoopConfig withHighWaterMark(int tasks) {
        LoopConfig copy = copy();
        copy.highWaterMark = within("highWaterMark", tasks, 1, 1 << 24);
        return copy;
    }

    /// A copy with this [#microtaskBudget()], at least 1.
    public LoopConfig withMicrotaskBudget(int microtasks) {
        LoopConfig copy = copy();
        copy.microtaskBudget = within("microtaskBudget", microtasks, 1, Integer.MAX_VALUE);
        return copy;
    }

    /// A copy with this [#ioBatch()], at least 1.
    public LoopConfig withIoBatch(int callbacks) {
        LoopConfig copy = copy();
        copy.ioBatch = within("ioBatch", callbacks, 1, Integer.MAX_VALUE);
        return copy;
    }

    /// A copy with this [#strictMicrotasks()].
    public LoopConfig withStrictMicrotasks(boolean strict) {
        LoopConfig copy = copy();
        copy.strictMicrotasks = strict;
        return copy;
    }

    /// A copy with this [#failurePolicy()].
    public LoopConfig withFailurePolicy(FailurePolicy policy) {
        Objects.requireNonNull(policy, "policy");
        LoopConfig copy = copy();
        copy.failurePolicy = policy;
        return copy;
    }

    /// A copy with this [#uncaughtHandler()]. It runs on the loop thread; if it throws, both
    /// throwables are logged and the loop goes on.
    public LoopConfig withUncaughtHandler(Thread.UncaughtExceptionHandler handler) {
        Objects.requireNonNull(handler, "handler");
        LoopConfig copy = copy();
        copy.uncaughtHandler = handler;
        return copy;
    }

    /// A copy with this [#observer()].
    public LoopConfig withObserver(LoopObserver observer) {
        Objects.requireNonNull(observer, "observer");
        LoopConfig copy = copy();
        copy.observer = observer;
        return copy;
    }

    /// A copy with this [#executor()]. To bound how much runs at once, see [BoundedExecutor].
    public LoopConfig withExecutor(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        LoopConfig copy = copy();
        copy.executor = executor;
        return copy;
    }

    /// A copy with this [#promiseTracing()]. A stack is taken for each promise, which makes it many times slower:
    /// for finding out where an unhandled rejection comes from.
    public LoopConfig withPromiseTracing(boolean tracing) {
        LoopConfig copy = copy();
        copy.promiseTracing = tracing;
        return copy;
    }

    /// A copy with this [#eventsPerWait()], from 1 to 65 536.
    public LoopConfig withEventsPerWait(int events) {
        LoopConfig copy = copy();
        copy.eventsPerWait = within("eventsPerWait", events, 1, 1 << 16);
        return copy;
    }

    /// A copy with this [#maxWait()], from one millisecond to one day.
    public LoopConfig withMaxWait(Duration wait) {
        Objects.requireNonNull(wait, "wait");
        if (wait.compareTo(Duration.ofMillis(1)) < 0 || wait.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(
                    "maxWait must be from 1 ms to 1 day, but is " + wait);
        }
        LoopConfig copy = copy();
        copy.maxWait = wait;
        return copy;
    }

    /// A copy that asks for this [#backend()], whatever the system property says. It is a wish: where the
    /// kernel refuses it the loop waits on another one, and says so in the log and in
    /// [LoopMetrics#backendFallback()][dev.gyre.metrics.LoopMetrics#backendFallback()].
    public LoopConfig withBackend(BackendKind kind) {
        Objects.requireNonNull(kind, "kind");
        LoopConfig copy = copy();
        copy.backend = Optional.of(kind);
        copy.backendRequired = false;
        return copy;
    }

    /// A copy that asks for this [#backend()] or none: where the kernel refuses it, a loop cannot be opened. For
    /// whoever measures or tries one, and would else look at another.
    public LoopConfig withRequiredBackend(BackendKind kind) {
        LoopConfig copy = withBackend(kind);
        copy.backendRequired = true;
        return copy;
    }

    /// A copy with this [#preferredBackend()]. Unlike [#withBackend(BackendKind)] it gives way to the system property, is
    /// no error on systems that have no such thing, and where the kernel refuses it that is logged as information,
    /// not as a warning: for servers that are to be fast where they can, and to run anywhere.
    public LoopConfig withPreferredBackend(BackendKind kind) {
        Objects.requireNonNull(kind, "kind");
        LoopConfig copy = copy();
        copy.preferredBackend = Optional.of(kind);
        return copy;
    }

    /// A copy with this [#operationBudget()], at least 1.
    public LoopConfig withOperationBudget(int completions) {
        LoopConfig copy = copy();
        copy.operationBudget = within("operationBudget", completions, 1, Integer.MAX_VALUE);
        return copy;
    }

    /// A copy with these [#receiveBuffers()], a power of two from 1 to 32 768, of so many
    /// [#receiveBufferBytes()], from 64 to 1 MiB. Memory is taken when they are first used.
    public LoopConfig withReceiveBuffers(int buffers, int bytes) {
        within("receiveBuffers", buffers, 1, 1 << 15);
        if (Integer.bitCount(buffers) != 1) {
            throw new IllegalArgumentException(
                    "receiveBuffers must be a power of two, but is " + buffers);
        }
        LoopConfig copy = copy();
        copy.receiveBuffers = buffers;
        copy.receiveBufferBytes = within("receiveBufferBytes", bytes, 64, 1 << 20);
        return copy;
    }

    /// A copy with this [#bufferMemory()], at least 1 MiB. It is taken from the system as it is
    /// needed, and freed after a second without use. Opening the loop throws if the process budget
    /// has less left.
    public LoopConfig withBufferMemory(long bytes) {
        if (bytes < 1 << 20) {
            throw new IllegalArgumentException(
                    "bufferMemory must be at least 1 MiB, but is " + bytes + " bytes");
        }
        LoopConfig copy = copy();
        copy.bufferMemory = bytes;
        return copy;
    }

    /// Returns a copy for one of `loops` loops, from 1 to 65 536: [#bufferMemory()] is an equal
    /// share of the process budget. One more share is left for other loops.
    public LoopConfig withBufferMemoryShare(int loops) {
        LoopConfig copy = copy();
        copy.bufferMemory = 0;
        copy.bufferMemoryLoops = within("loops", loops, 1, 1 << 16);
        return copy;
    }

    /// A copy with these [#preallocatedDescriptors()] and [#preallocatedOperations()], from 0 to 65 536 each.
    public LoopConfig withPreallocated(int descriptors, int operations) {
        LoopConfig copy = copy();
        copy.preallocatedDescriptors = within("preallocatedDescriptors", descriptors, 0, 1 << 16);
        copy.preallocatedOperations = within("preallocatedOperations", operations, 0, 1 << 16);
        return copy;
    }

    private static int within(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    what + " must be from " + least + " to " + most + ", but is " + value);
        }
        return value;
    }

    private LoopConfig copy() {
        try {
            return (LoopConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("LoopConfig is Cloneable", e);
        }
    }

    /// One new virtual thread for each work. A constant, so that equal configurations share it.
    private enum VirtualThreads implements Executor {
        INSTANCE;

        private static final ThreadFactory THREADS =
                Thread.ofVirtual()
                        .name("gyre-work-", 1)
                        .inheritInheritableThreadLocals(false)
                        .factory();

        @Override
        public void execute(Runnable work) {
            THREADS.newThread(work).start();
        }
    }

    /// Logs what a callback threw. A constant, so that equal configurations share it.
    private enum LogUncaught implements Thread.UncaughtExceptionHandler {
        INSTANCE;

        @Override
        public void uncaughtException(Thread thread, Throwable thrown) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "a callback failed on loop thread " + thread.getName(),
                    thrown);
        }
    }
}
