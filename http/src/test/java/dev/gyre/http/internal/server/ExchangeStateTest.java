package dev.gyre.http.internal.server;

import static dev.gyre.http.internal.server.ExchangeState.CLOSED;
import static dev.gyre.http.internal.server.ExchangeState.CLOSING;
import static dev.gyre.http.internal.server.ExchangeState.FAILING;
import static dev.gyre.http.internal.server.ExchangeState.HANDLING;
import static dev.gyre.http.internal.server.ExchangeState.IDLE;
import static dev.gyre.http.internal.server.ExchangeState.READING_HEAD;
import static dev.gyre.http.internal.server.ExchangeState.RESPONDED;
import static dev.gyre.http.internal.server.ExchangeState.RESPONDING;
import static dev.gyre.http.internal.server.ExchangeState.UPGRADED;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/// The drawing of [ExchangeState] as a table.
class ExchangeStateTest {
    private static final Map<ExchangeState, Set<ExchangeState>> TRANSITIONS =
            new EnumMap<>(
                    Map.of(
                            IDLE, EnumSet.of(READING_HEAD, HANDLING, CLOSING, CLOSED),
                            READING_HEAD, EnumSet.of(HANDLING, CLOSING, CLOSED),
                            HANDLING, EnumSet.of(FAILING, RESPONDING, RESPONDED, CLOSING, CLOSED),
                            FAILING, EnumSet.of(RESPONDING, RESPONDED, CLOSING, CLOSED),
                            RESPONDING, EnumSet.of(RESPONDED, UPGRADED, CLOSING, CLOSED),
                            RESPONDED, EnumSet.of(IDLE, CLOSING, CLOSED),
                            UPGRADED, EnumSet.of(CLOSED),
                            CLOSING, EnumSet.of(CLOSED),
                            CLOSED, EnumSet.noneOf(ExchangeState.class)));

    static Stream<Arguments> pairs() {
        return Stream.of(ExchangeState.values())
                .flatMap(
                        from ->
                                Stream.of(ExchangeState.values())
                                        .map(to -> Arguments.of(from, to)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void to_followsTheDrawing_andThrowsElsewhere(ExchangeState from, ExchangeState next) {
        if (TRANSITIONS.get(from).contains(next)) {
            assertThat(from.to(next)).isEqualTo(next);
        } else {
            assertThatThrownBy(() -> from.to(next))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("no transition from %s to %s", from, next);
        }
    }

    @ParameterizedTest
    @EnumSource
    void predicates_holdInTheirStates(ExchangeState state) {
        assertThat(state.isUncommitted()).isEqualTo(EnumSet.of(HANDLING, FAILING).contains(state));
        assertThat(state.isInProgress())
                .isEqualTo(EnumSet.of(HANDLING, FAILING, RESPONDING).contains(state));
        assertThat(state.isClosed()).isEqualTo(EnumSet.of(CLOSING, CLOSED).contains(state));
    }
}
