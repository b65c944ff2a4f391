package dev.gyre;

import dev.gyre.internal.base.Checks;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/// Configures a [LoopGroup]. Immutable: each `with` method returns a changed copy.
///
/// **Threads.** Any.
public final class LoopGroupConfig implements Cloneable {
    /// Says what a group does after one of its loops failed.
    public enum FailureAction {
        /// Replaces the loop by a new one. A loop that fails for the sixth time within a minute
        /// closes the group.
        REPLACE_LOOP,
        /// Closes the group, as [LoopGroup#close()] does.
        CLOSE_GROUP
    }

    /// The default configuration.
    public static final LoopGroupConfig DEFAULT = new LoopGroupConfig();

    private LoopConfig loopConfig = LoopConfig.DEFAULT;
    private FailureAction failureAction = FailureAction.REPLACE_LOOP;
    private Duration shutdownTimeout = Duration.ofSeconds(30);
    private boolean cpuAffinity;

    private LoopGroupConfig() {}

    /// Returns the configuration of the loops. Each loop is named `<name>-<index>`, such as
    /// `gyre-0`. If [LoopConfig#bufferMemory()] is a share of the process budget, the loops of the
    /// group divide it equally. Default [LoopConfig#DEFAULT].
    public LoopConfig loopConfig() {
        return loopConfig;
    }

    /// Returns the action after a loop has failed. Default [FailureAction#REPLACE_LOOP].
    public FailureAction failureAction() {
        return failureAction;
    }

    /// Returns the timeout of a shutdown that the group starts itself: after a signal in
    /// [LoopGroup#run()], or after application code stops one loop. Default 30 seconds.
    public Duration shutdownTimeout() {
        return shutdownTimeout;
    }

    /// Returns whether each loop thread runs on one processor only. Of the processors that this
    /// process may use, loop `i` of `n` has one whose number modulo `n` is `i`, as
    /// `Distribution.REUSE_PORT_BY_CPU` expects. The remaining loops have the remaining processors.
    /// Useful if nothing else competes for the processors. Linux only. If the kernel refuses, the
    /// group logs a warning and its threads run on any processor. Default false.
    ///
    /// A thread that a loop thread starts inherits its processor, also the carrier of a virtual
    /// thread. The threads of other groups do not, nor do those of
    /// [BoundedExecutor#platformThreads] and of the default executors. Start other threads outside
    /// the loops.
    public boolean cpuAffinity() {
        return cpuAffinity;
    }

    /// Returns a copy with this [#loopConfig()].
    public LoopGroupConfig withLoopConfig(LoopConfig config) {
        Objects.requireNonNull(config, "config");
        return with(copy -> copy.loopConfig = config);
    }

    /// Returns a copy with this [#failureAction()].
    public LoopGroupConfig withFailureAction(FailureAction action) {
        Objects.requireNonNull(action, "action");
        return with(copy -> copy.failureAction = action);
    }

    /// Returns a copy with this [#shutdownTimeout()], at least zero.
    public LoopGroupConfig withShutdownTimeout(Duration timeout) {
        Checks.notNegative("shutdownTimeout", timeout);
        return with(copy -> copy.shutdownTimeout = timeout);
    }

    /// Returns a copy with this [#cpuAffinity()].
    public LoopGroupConfig withCpuAffinity(boolean pinned) {
        return with(copy -> copy.cpuAffinity = pinned);
    }

    private LoopGroupConfig with(Consumer<LoopGroupConfig> change) {
        try {
            LoopGroupConfig copy = (LoopGroupConfig) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("LoopGroupConfig is Cloneable", e);
        }
    }
}
