package dev.gyre.internal.io;

import dev.gyre.internal.backend.Readiness;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/// Random actions on watchers and descriptors.
final class WatcherPrograms {
    enum Kind {
        WATCH,
        MODIFY,
        REARM,
        UNWATCH,
        CLOSE,
        REOPEN,
        CONDITION,
        POLL
    }

    /// The handlers and modes of a watch.
    record Spec(boolean reader, boolean writer, boolean error, boolean edge, boolean oneShot) {
        boolean isNothing() {
            return !reader && !writer;
        }
    }

    /// @param ready for CONDITION
    /// @param spec for WATCH and MODIFY
    record Action(Kind kind, int fd, int ready, Spec spec) {}

    private WatcherPrograms() {}

    static Arbitrary<Action> actions() {
        Arbitrary<Boolean> either = Arbitraries.of(true, false);
        Arbitrary<Boolean> rarely = Arbitraries.of(true, false, false);
        Arbitrary<Spec> specs =
                Combinators.combine(either, either, rarely, rarely, rarely).as(Spec::new);
        Arbitrary<Integer> conditions =
                Arbitraries.of(
                        0,
                        Readiness.READ,
                        Readiness.WRITE,
                        Readiness.HANGUP,
                        Readiness.ERROR,
                        Readiness.READ | Readiness.WRITE,
                        Readiness.READ | Readiness.HANGUP,
                        Readiness.WRITE | Readiness.ERROR,
                        Readiness.READ | Readiness.WRITE | Readiness.HANGUP | Readiness.ERROR);
        return Combinators.combine(
                        Arbitraries.of(Kind.class), Arbitraries.of(3, 4, 70), conditions, specs)
                .as(Action::new);
    }
}
