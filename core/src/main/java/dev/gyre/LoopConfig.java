package dev.gyre;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.MemoryBudget;
import dev.gyre.internal.base.WorkThreads;
import dev.gyre.metrics.LoopObserver;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/// Configures a loop. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = LoopConfig.DEFAULT.withName("edge-0").withFailurePolicy(FailurePolicy.PROPAGATE);
/// ```
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null.
///
/// **Threads.** Any.
public final class LoopConfig implements Cloneable {
    // Before DEFAULT, which uses it.
    private static final Executor VIRTUAL_THREADS = WorkThreads.virtual("gyre-work-");

    /// The default configuration, as used by [EventLoop#open()].
    public static final LoopConfig DEFAULT = new LoopConfig();

    private String name = "gyre";
    private int taskBudget = 1_024;
    private int highWaterMark = 100_000;
    private int microtaskBudget = 1_024;
    private int ioBatch = 64;
    private boolean strictMicrotasks = false;
    private FailurePolicy failurePolicy = FailurePolicy.ISOLATE;
    private Thread.UncaughtExceptionHandler uncaughtHandler = LoopConfig::logUncaught;
    private LoopObserver observer = LoopObserver.logging();
    private Executor executor = VIRTUAL_THREADS;
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

    /// Returns the loop's name in messages. Default `gyre`.
    public String name() {
        return name;
    }

    /// Returns the maximum of tasks from [EventLoop#submit] run per tick. Default 1 024.
    public int taskBudget() {
        return taskBudget;
    }

    /// Returns the maximum of tasks from [EventLoop#submit] that may be queued. Default 100 000.
    public int highWaterMark() {
        return highWaterMark;
    }

    /// Returns the maximum of microtasks run per tick. Default 1 024.
    public int microtaskBudget() {
        return microtaskBudget;
    }

    /// Returns the maximum of I/O callbacks between two microtask barriers, unless
    /// [#strictMicrotasks()]. Default 64.
    public int ioBatch() {
        return ioBatch;
    }

    /// Returns whether microtasks are drained after every I/O callback. Default false.
    public boolean strictMicrotasks() {
        return strictMicrotasks;
    }

    /// Returns the policy for callbacks that throw. Default [FailurePolicy#ISOLATE].
    public FailurePolicy failurePolicy() {
        return failurePolicy;
    }

    /// Returns the handler of throwables from callbacks under [FailurePolicy#ISOLATE]. Default:
    /// logs them with their stack traces.
    public Thread.UncaughtExceptionHandler uncaughtHandler() {
        return uncaughtHandler;
    }

    /// Returns the observer of overload and exceeded budgets. Default [LoopObserver#logging()].
    public LoopObserver observer() {
        return observer;
    }

    /// Returns the executor of [EventLoop#promisify(BlockingWork)]. Default: a new virtual thread
    /// for each work, which inherits no thread-locals.
    public Executor executor() {
        return executor;
    }

    /// Returns whether each promise records its creation stack. Default false.
    public boolean promiseTracing() {
        return promiseTracing;
    }

    /// Returns the maximum of kernel events collected per wait. Default 1 024.
    public int eventsPerWait() {
        return eventsPerWait;
    }

    /// Returns the maximum duration of a single wait in the kernel. Default five minutes.
    public Duration maxWait() {
        return maxWait;
    }

    /// Returns the requested backend; empty to select one. Selection prefers the system property
    /// `gyre.backend`, then [#preferredBackend()], then epoll or kqueue. Default empty.
    public Optional<BackendKind> backend() {
        return backend;
    }

    /// Returns whether opening a loop fails if the kernel refuses its [#backend()]. Default false:
    /// the loop falls back to another backend.
    public boolean isBackendRequired() {
        return backendRequired;
    }

    /// Returns the backend to use if none is requested and the kernel supports it. Default empty.
    public Optional<BackendKind> preferredBackend() {
        return preferredBackend;
    }

    /// Returns the maximum of operation completions delivered per tick. Default 1 024.
    public int operationBudget() {
        return operationBudget;
    }

    /// Returns the number of the loop's buffers for [dev.gyre.io.operation.Operations#receive].
    /// Default 256.
    public int receiveBuffers() {
        return receiveBuffers;
    }

    /// Returns the size of each receive buffer. Default 16 KiB.
    public int receiveBufferBytes() {
        return receiveBufferBytes;
    }

    /// Returns the maximum memory that the loop's pooled buffers may have in use: those of streams
    /// and of [dev.gyre.io.Buffer#acquire]. Excludes [#receiveBuffers()].
    ///
    /// Default: an equal share of the process budget for one loop per processor, up to 256 MiB. The
    /// system property `gyre.bufferMemory`, such as `512m`, sets the budget. Its default is the
    /// maximum heap size. If less than the share is left of the budget, the loop opens with the
    /// rest. `-XX:MaxDirectMemorySize` does not limit this memory. The configuration of an open
    /// loop contains the amount that the loop reserved.
    public long bufferMemory() {
        long receiving = (long) receiveBuffers * receiveBufferBytes;
        return bufferMemory > 0
                ? bufferMemory
                : MemoryBudget.PROCESS.share(bufferMemoryLoops, receiving);
    }

    /// Returns whether [#bufferMemory()] is a share of the process budget. The share shrinks if
    /// other loops have reserved more.
    public boolean hasBufferMemoryShare() {
        return bufferMemory == 0;
    }

    /// Returns the number of descriptors whose operation state is allocated when the loop opens.
    /// Default 0: it is allocated on first use, and then kept.
    public int preallocatedDescriptors() {
        return preallocatedDescriptors;
    }

    /// Returns the number of operations of each kind allocated when the loop opens. Default 0.
    public int preallocatedOperations() {
        return preallocatedOperations;
    }

    /// Returns a copy with this [#name()].
    public LoopConfig withName(String name) {
        Objects.requireNonNull(name, "name");
        return with(copy -> copy.name = name);
    }

    /// Returns a copy with this [#taskBudget()], at least 1.
    public LoopConfig withTaskBudget(int tasks) {
        Checks.range("taskBudget", tasks, 1, Integer.MAX_VALUE);
        return with(copy -> copy.taskBudget = tasks);
    }

    /// Returns a copy with this [#highWaterMark()], from 1 to 16 777 216.
    public LoopConfig withHighWaterMark(int tasks) {
        Checks.range("highWaterMark", tasks, 1, 1 << 24);
        return with(copy -> copy.highWaterMark = tasks);
    }

    /// Returns a copy with this [#microtaskBudget()], at least 1.
    public LoopConfig withMicrotaskBudget(int microtasks) {
        Checks.range("microtaskBudget", microtasks, 1, Integer.MAX_VALUE);
        return with(copy -> copy.microtaskBudget = microtasks);
    }

    /// Returns a copy with this [#ioBatch()], at least 1.
    public LoopConfig withIoBatch(int callbacks) {
        Checks.range("ioBatch", callbacks, 1, Integer.MAX_VALUE);
        return with(copy -> copy.ioBatch = callbacks);
    }

    /// Returns a copy with this [#strictMicrotasks()].
    public LoopConfig withStrictMicrotasks(boolean strict) {
        return with(copy -> copy.strictMicrotasks = strict);
    }

    /// Returns a copy with this [#failurePolicy()].
    public LoopConfig withFailurePolicy(FailurePolicy policy) {
        Objects.requireNonNull(policy, "policy");
        return with(copy -> copy.failurePolicy = policy);
    }

    /// Returns a copy with this [#uncaughtHandler()]. It runs on the loop thread. If it throws,
    /// both throwables are logged and the loop continues.
    public LoopConfig withUncaughtHandler(Thread.UncaughtExceptionHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return with(copy -> copy.uncaughtHandler = handler);
    }

    /// Returns a copy with this [#observer()].
    public LoopConfig withObserver(LoopObserver observer) {
        Objects.requireNonNull(observer, "observer");
        return with(copy -> copy.observer = observer);
    }

    /// Returns a copy with this [#executor()]. A [BoundedExecutor] limits the work in progress.
    public LoopConfig withExecutor(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return with(copy -> copy.executor = executor);
    }

    /// Returns a copy with this [#promiseTracing()]. Each promise captures a stack trace, which
    /// makes it many times slower. Use it to find the origin of an unhandled rejection.
    public LoopConfig withPromiseTracing(boolean tracing) {
        return with(copy -> copy.promiseTracing = tracing);
    }

    /// Returns a copy with this [#eventsPerWait()], from 1 to 65 536.
    public LoopConfig withEventsPerWait(int events) {
        Checks.range("eventsPerWait", events, 1, 1 << 16);
        return with(copy -> copy.eventsPerWait = events);
    }

    /// Returns a copy with this [#maxWait()], from one millisecond to one day.
    public LoopConfig withMaxWait(Duration wait) {
        Checks.range("maxWait", wait, Duration.ofMillis(1), Duration.ofDays(1));
        return with(copy -> copy.maxWait = wait);
    }

    /// Returns a copy with this [#backend()], which overrides the system property. If the kernel
    /// refuses it, the loop falls back to another backend. The log and
    /// [LoopMetrics#backendFallback()][dev.gyre.metrics.LoopMetrics#backendFallback()] say so.
    public LoopConfig withBackend(BackendKind kind) {
        Objects.requireNonNull(kind, "kind");
        return with(
                copy -> {
                    copy.backend = Optional.of(kind);
                    copy.backendRequired = false;
                });
    }

    /// Returns a copy with this [#backend()] and no fallback: a loop does not open if the kernel
    /// refuses it. Use it for benchmarks and tests of one backend.
    public LoopConfig withRequiredBackend(BackendKind kind) {
        return withBackend(kind).with(copy -> copy.backendRequired = true);
    }

    /// Returns a copy with this [#preferredBackend()]. Unlike [#withBackend(BackendKind)] it does
    /// not override the system property, and is ignored on systems without the backend. A refusal
    /// of the kernel is logged at level INFO. Use it for servers that must start on any kernel.
    public LoopConfig withPreferredBackend(BackendKind kind) {
        Objects.requireNonNull(kind, "kind");
        return with(copy -> copy.preferredBackend = Optional.of(kind));
    }

    /// Returns a copy with this [#operationBudget()], at least 1.
    public LoopConfig withOperationBudget(int completions) {
        Checks.range("operationBudget", completions, 1, Integer.MAX_VALUE);
        return with(copy -> copy.operationBudget = completions);
    }

    /// Returns a copy with this number of [#receiveBuffers()], a power of two from 1 to 32 768, and
    /// these [#receiveBufferBytes()], from 64 to 1 MiB. Memory is allocated on first use.
    public LoopConfig withReceiveBuffers(int buffers, int bytes) {
        Checks.range("receiveBuffers", buffers, 1, 1 << 15);
        if (Integer.bitCount(buffers) != 1) {
            throw new IllegalArgumentException(
                    "receiveBuffers must be a power of two, but is " + buffers);
        }
        Checks.range("receiveBufferBytes", bytes, 64, 1 << 20);
        return with(
                copy -> {
                    copy.receiveBuffers = buffers;
                    copy.receiveBufferBytes = bytes;
                });
    }

    /// Returns a copy with this [#bufferMemory()], at least 1 MiB. The loop maps it on demand, and
    /// frees it after a second without use. Opening the loop throws if the process budget has less
    /// left.
    public LoopConfig withBufferMemory(long bytes) {
        Checks.range("bufferMemory", bytes, 1 << 20, Long.MAX_VALUE);
        return with(copy -> copy.bufferMemory = bytes);
    }

    /// Returns a copy for one of `loops` loops, from 1 to 65 536: [#bufferMemory()] is an equal
    /// share of the process budget. One more share is left for other loops.
    public LoopConfig withBufferMemoryShare(int loops) {
        Checks.range("loops", loops, 1, 1 << 16);
        return with(
                copy -> {
                    copy.bufferMemory = 0;
                    copy.bufferMemoryLoops = loops;
                });
    }

    /// Returns a copy with these [#preallocatedDescriptors()] and [#preallocatedOperations()], from
    /// 0 to 65 536 each.
    public LoopConfig withPreallocated(int descriptors, int operations) {
        Checks.range("preallocatedDescriptors", descriptors, 0, 1 << 16);
        Checks.range("preallocatedOperations", operations, 0, 1 << 16);
        return with(
                copy -> {
                    copy.preallocatedDescriptors = descriptors;
                    copy.preallocatedOperations = operations;
                });
    }

    private LoopConfig with(Consumer<LoopConfig> change) {
        try {
            LoopConfig copy = (LoopConfig) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("LoopConfig is Cloneable", e);
        }
    }

    private static void logUncaught(Thread thread, Throwable thrown) {
        LOG.log(
                System.Logger.Level.ERROR,
                "a callback failed on loop thread " + thread.getName(),
                thrown);
    }
}
