package dev.gyre.testkit;

import java.util.function.Consumer;

/// The faults of a simulated world. Each has a probability from 0 to 1 for every opportunity. The
/// seed of the world decides which opportunities are hit.
///
/// ```java
/// world.faults(Faults.none().withShortReads(0.5).withInterrupts(0.1));
/// ```
///
/// Real kernels and networks behave like this too, so a program that fails under a fault has a bug.
/// No fault loses or reorders bytes of a stream.
///
/// Immutable: each `with` method returns a changed copy. It throws an [IllegalArgumentException] if
/// the value is not a probability.
public final class Faults implements Cloneable {
    private static final Faults NONE = new Faults();

    private static final Faults ALL =
            NONE.withShortReads(0.2)
                    .withShortWrites(0.2)
                    .withInterrupts(0.05)
                    .withSpuriousBlocks(0.05)
                    .withResets(0.005)
                    .withExhaustion(0.02)
                    .withNoBuffers(0.01)
                    .withAborts(0.02)
                    .withReordering(0.3)
                    .withDelays(0.1)
                    .withSpuriousEvents(0.05)
                    .withDescriptorReuse(0.5);

    private double shortReads;
    private double shortWrites;
    private double interrupts;
    private double spuriousBlocks;
    private double resets;
    private double exhaustion;
    private double noBuffers;
    private double aborts;
    private double reordering;
    private double delays;
    private double spuriousEvents;
    private double descriptorReuse;

    private Faults() {}

    /// Returns no faults.
    public static Faults none() {
        return NONE;
    }

    /// Returns all faults, each with a moderate probability.
    public static Faults all() {
        return ALL;
    }

    /// Returns the faults of [#all()] that a correct program hides from its peers and users.
    /// Resets, aborts, exhaustion and a lack of buffers are excluded.
    public static Faults harmless() {
        return ALL.withResets(0).withAborts(0).withExhaustion(0).withNoBuffers(0);
    }

    /// Returns the probability that a read returns fewer bytes than available; readiness for the
    /// rest is reported later.
    public double shortReads() {
        return shortReads;
    }

    /// Returns the probability that a write accepts fewer bytes than there is space for.
    public double shortWrites() {
        return shortWrites;
    }

    /// Returns the probability that a call returns EINTR without an effect; a connect continues in
    /// the background.
    public double interrupts() {
        return interrupts;
    }

    /// Returns the probability that a call returns EAGAIN although it could proceed; readiness is
    /// reported again.
    public double spuriousBlocks() {
        return spuriousBlocks;
    }

    /// Returns the probability that the network resets a connection instead of delivering a packet.
    public double resets() {
        return resets;
    }

    /// Returns the probability that a call that allocates a descriptor returns EMFILE or ENFILE.
    public double exhaustion() {
        return exhaustion;
    }

    /// Returns the probability that a send returns ENOBUFS.
    public double noBuffers() {
        return noBuffers;
    }

    /// Returns the probability that an accept fails because the peer has disconnected or is
    /// unreachable: ECONNABORTED, ENETDOWN or another error of accept(2).
    public double aborts() {
        return aborts;
    }

    /// Returns the probability that events are reported in another order.
    public double reordering() {
        return reordering;
    }

    /// Returns the probability that an event is reported later than possible.
    public double delays() {
        return delays;
    }

    /// Returns the probability that a descriptor is reported ready although it is not.
    public double spuriousEvents() {
        return spuriousEvents;
    }

    /// Returns the probability that a new descriptor gets the number closed last, not the lowest
    /// free one.
    public double descriptorReuse() {
        return descriptorReuse;
    }

    /// Returns a copy with this [#shortReads()].
    public Faults withShortReads(double probability) {
        return with("shortReads", probability, copy -> copy.shortReads = probability);
    }

    /// Returns a copy with this [#shortWrites()].
    public Faults withShortWrites(double probability) {
        return with("shortWrites", probability, copy -> copy.shortWrites = probability);
    }

    /// Returns a copy with this [#interrupts()].
    public Faults withInterrupts(double probability) {
        return with("interrupts", probability, copy -> copy.interrupts = probability);
    }

    /// Returns a copy with this [#spuriousBlocks()].
    public Faults withSpuriousBlocks(double probability) {
        return with("spuriousBlocks", probability, copy -> copy.spuriousBlocks = probability);
    }

    /// Returns a copy with this [#resets()].
    public Faults withResets(double probability) {
        return with("resets", probability, copy -> copy.resets = probability);
    }

    /// Returns a copy with this [#exhaustion()].
    public Faults withExhaustion(double probability) {
        return with("exhaustion", probability, copy -> copy.exhaustion = probability);
    }

    /// Returns a copy with this [#noBuffers()].
    public Faults withNoBuffers(double probability) {
        return with("noBuffers", probability, copy -> copy.noBuffers = probability);
    }

    /// Returns a copy with this [#aborts()].
    public Faults withAborts(double probability) {
        return with("aborts", probability, copy -> copy.aborts = probability);
    }

    /// Returns a copy with this [#reordering()].
    public Faults withReordering(double probability) {
        return with("reordering", probability, copy -> copy.reordering = probability);
    }

    /// Returns a copy with this [#delays()].
    public Faults withDelays(double probability) {
        return with("delays", probability, copy -> copy.delays = probability);
    }

    /// Returns a copy with this [#spuriousEvents()].
    public Faults withSpuriousEvents(double probability) {
        return with("spuriousEvents", probability, copy -> copy.spuriousEvents = probability);
    }

    /// Returns a copy with this [#descriptorReuse()].
    public Faults withDescriptorReuse(double probability) {
        return with("descriptorReuse", probability, copy -> copy.descriptorReuse = probability);
    }

    private Faults with(String name, double probability, Consumer<Faults> change) {
        if (!(probability >= 0 && probability <= 1)) { // Also rejects NaN.
            throw new IllegalArgumentException(
                    name + " must be a probability from 0 to 1, but is " + probability);
        }
        try {
            Faults copy = (Faults) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("Faults is Cloneable", e);
        }
    }
}
