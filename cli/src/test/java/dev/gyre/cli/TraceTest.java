package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.cli.admin.Json;

import org.junit.jupiter.api.Test;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

final class TraceTest {
    private final Trace.Events events = new Trace.Events();

    private static Json response(int total, int first, int last) {
        return Json.parse(
                IntStream.rangeClosed(first, last)
                        .mapToObj("{\"connection\":%d}"::formatted)
                        .collect(
                                Collectors.joining(
                                        ",", "{\"total\":" + total + ",\"events\":[", "]}")));
    }

    @Test
    void events_ofOverlappingResponses_arePrintedOnce_withoutLoss() {
        events.update(response(3, 1, 3));
        assertThat(events.added()).hasSize(3);
        assertThat(events.lost()).isZero();
        events.update(response(6, 3, 5)); // The first three are not sent again.
        assertThat(events.added())
                .extracting(event -> event.get("connection").text())
                .containsExactly("4", "5");
        assertThat(events.lost()).isZero();
        events.update(response(0, 1, 0)); // Cleared.
        assertThat(events.added()).isEmpty();
        assertThat(events.lost()).isZero();
    }

    @Test
    void events_betweenResponsesThatDoNotOverlap_areLost() {
        events.update(response(10, 8, 10));
        assertThat(events.lost()).as("older than the first response").isEqualTo(7);
        events.update(response(20, 18, 20));
        assertThat(events.added()).hasSize(3);
        assertThat(events.lost()).as("at least, without the ones printed before").isEqualTo(14);
        events.update(response(3, 31, 33));
        assertThat(events.lost()).as("overwritten").isEqualTo(1);
    }

    @Test
    void text_namesTheConnection_orNoneForEventsOfTheLoop() {
        String event =
                """
                {"time":"2026-01-31T12:00:00Z","loop":"serve-0","connection":%d,"kind":"%s",
                 "detail":"%s"}
                """;
        assertThat(Trace.text(Json.parse(event.formatted(42, "READ", "5 bytes\\u001b"))))
                .isEqualTo("2026-01-31T12:00:00Z serve-0 #42 READ 5 bytes?");
        assertThat(Trace.text(Json.parse(event.formatted(0, "TIMER", ""))))
                .isEqualTo("2026-01-31T12:00:00Z serve-0 - TIMER");
    }
}
