package dev.gyre.testkit;

/// What goes wrong in a simulated world, and how often: each fault has a probability from 0 to 1, for every
/// occasion that it has. All of them are things that a real kernel or network may do, so a program that
/// fails under them is wrong; none of them loses or reorders the bytes of a stream.
///
/// Which occasions are hit is decided by the world's seed.
///
/// ```java
/// world.faults(Faults.none().withShortReads(0.5).withInterrupts(0.1));
/// ```
///
/// Immutable: each `with` method returns a changed copy.
///
/// @param shortReads a read brings less than there is; the rest is announced a little later
/// @param shortWrites a write takes less than there is room for
/// @param interrupts a call returns EINTR and has done nothing; a connect goes on by itself
/// @param spuriousBlocks a call says EAGAIN though it could have gone on; readiness is announced again
/// @param resets the network resets a connection instead of delivering
/// @param exhaustion a call that makes a descriptor says EMFILE or ENFILE
/// @param noBuffers a send says ENOBUFS
/// @param aborts a waiting peer is gone or unreachable when it is to be accepted: ECONNABORTED, ENETDOWN or another of accept(2)
/// @param reordering events are told of in another order
/// @param lateness an event is told of later than it could be
/// @param spuriousEvents a descriptor is said to be ready and is not
/// @param reuse a new descriptor gets the number that was closed last, not the lowest free one
public record Faults(
        double shortReads,
        double shortWrites,
        double interrupts,
        double spuriousBlocks,
        double resets,
        double exhaustion,
        double noBuffers,
        double aborts,
        double reordering,
        double lateness,
        double spuriousEvents,
        double reuse) {
    private static final Faults NONE = new Faults(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    private static final Faults ALL =
            new Faults(0.2, 0.2, 0.05, 0.05, 0.005, 0.02, 0.01, 0.02, 0.3, 0.1, 0.05, 0.5);

    /// Checks the probabilities.
    public Faults {
        requireProbability("shortReads", shortReads);
        requireProbability("shortWrites", shortWrites);
        requireProbability("interrupts", interrupts);
        requireProbability("spuriousBlocks", spuriousBlocks);
        requireProbability("resets", resets);
        requireProbability("exhaustion", exhaustion);
        requireProbability("noBuffers", noBuffers);
        requireProbability("aborts", aborts);
        requireProbability("reordering", reordering);
        requireProbability("lateness", lateness);
        requireProbability("spuriousEvents", spuriousEvents);
        requireProbability("reuse", reuse);
    }

    private static void requireProbability(String name, double value) {
        if (!(value >= 0 && value <= 1)) { // Also refuses what is not a number.
            throw new IllegalArgumentException(
                    name + " must be a probability from 0 to 1, but is " + value);
        }
    }

    /// Nothing goes wrong.
    public static Faults none() {
        return NONE;
    }

    /// Everything goes wrong now and then.
    public static Faults all() {
        return ALL;
    }

    /// Those of [#all()] that no peer of a connection and no user of a descriptor can notice, if the program is
    /// right: without resets, aborts, exhaustion and lack of buffers, which end something or refuse it.
    public static Faults harmless() {
        return ALL.withResets(0).withAborts(0).withExhaustion(0).withNoBuffers(0);
    }

    /// A copy with this [#shortReads()].
    public Faults withShortReads(double probability) {
        return new Faults(
                probability,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#shortWrites()].
    public Faults withShortWrites(double probability) {
        return new Faults(
                shortReads,
                probability,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#interrupts()].
    public Faults withInterrupts(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                probability,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#spuriousBlocks()].
    public Faults withSpuriousBlocks(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                probability,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#resets()].
    public Faults withResets(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                probability,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#exhaustion()].
    public Faults withExhaustion(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                probability,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#noBuffers()].
    public Faults withNoBuffers(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                probability,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#aborts()].
    public Faults withAborts(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                probability,
                reordering,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#reordering()].
    public Faults withReordering(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                probability,
                lateness,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#lateness()].
    public Faults withLateness(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                probability,
                spuriousEvents,
                reuse);
    }

    /// A copy with this [#spuriousEvents()].
    public Faults withSpuriousEvents(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                probability,
                reuse);
    }

    /// A copy with this [#reuse()].
    public Faults withReuse(double probability) {
        return new Faults(
                shortReads,
                shortWrites,
                interrupts,
                spuriousBlocks,
                resets,
                exhaustion,
                noBuffers,
                aborts,
                reordering,
                lateness,
                spuriousEvents,
                probability);
    }
}
