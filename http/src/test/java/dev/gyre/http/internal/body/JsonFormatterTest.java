package dev.gyre.http.internal.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.net.URI;
import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.MonthDay;
import java.time.Period;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

class JsonFormatterTest {
    record Order(int number, Object owner) {}

    record Everyday(
            Instant at,
            LocalDate day,
            Duration time,
            Period span,
            UUID id,
            URI link,
            Path file,
            DayOfWeek weekday,
            Optional<LocalDate> until,
            Optional<LocalDate> never) {}

    @Test
    @Clause("H-5")
    void everydayTypes_areWrittenAsTheirText() {
        UUID id = new UUID(1, 2);
        LocalDate day = LocalDate.of(2026, 2, 3);
        assertThat(
                        write(
                                new Everyday(
                                        Instant.EPOCH,
                                        day,
                                        Duration.ofMinutes(90),
                                        Period.ofDays(3),
                                        id,
                                        URI.create("http://a/b"),
                                        Path.of("a", "b.txt"),
                                        DayOfWeek.MONDAY,
                                        Optional.of(day),
                                        Optional.empty())))
                .isEqualTo(
                        "{\"at\":\"1970-01-01T00:00:00Z\",\"day\":\"2026-02-03\","
                            + "\"time\":\"PT1H30M\",\"span\":\"P3D\","
                            + "\"id\":\"00000000-0000-0001-0000-000000000002\","
                            + "\"link\":\"http://a/b\",\"file\":\"a/b.txt\","
                            + "\"weekday\":\"MONDAY\",\"until\":\"2026-02-03\",\"never\":null}");
        assertThat(
                        write(
                                List.of(
                                        MonthDay.of(2, 3),
                                        ZoneOffset.UTC,
                                        ZonedDateTime.of(
                                                day.atStartOfDay(), ZoneOffset.ofHours(1)))))
                .isEqualTo("[\"--02-03\",\"Z\",\"2026-02-03T00:00+01:00\"]");
    }

    @Test
    @Clause("H-5")
    void whatHasNoJson_isNamedWithTheWayToIt() {
        Object thread = Thread.currentThread();
        String remedy =
                "java.lang.Thread has no JSON form: use a record or a map, or set"
                        + " HttpServer.jsonMapper";
        requireRefused(thread, remedy);
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            orders.add(new Order(i, "ada"));
        }
        orders.add(new Order(3, thread));
        requireRefused(Map.of("orders", orders), "orders[3].owner: " + remedy);
        requireRefused(orders, "[3].owner: " + remedy);
        requireRefused(new Object[][] {{1}, {2, thread}}, "[1][1]: " + remedy);
        requireRefused(new Order(1, Optional.of(Map.of("a\nb", thread))), "owner.a?b: " + remedy);
        requireRefused(List.of(new Order(1, Double.NaN)), "[0].owner: JSON has no number for NaN");
    }

    private static String write(Object value) {
        return new String(JsonFormatter.write(value), UTF_8);
    }

    private static void requireRefused(Object value, String message) {
        assertThatThrownBy(() -> write(value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    @Clause("H-5")
    void whatHoldsItself_isRefused_withTheBeginningOfTheWay() {
        List<Object> self = new ArrayList<>();
        self.add(Map.of("itself", self));
        assertThatThrownBy(() -> write(self))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("[0].itself[0].itself")
                .hasMessageContaining("\u2026: values are nested deeper than 100");
    }
}
