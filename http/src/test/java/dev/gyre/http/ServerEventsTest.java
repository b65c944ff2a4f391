package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

class ServerEventsTest extends SimulatedFixture {
    private final List<EventStream> streams = new ArrayList<>();

    private Talk open(Consumer<EventStream> use) {
        server.get(
                "/events",
                (_, response) -> {
                    EventStream events = response.events();
                    streams.add(events);
                    use.accept(events);
                    return events.closed();
                });
        return connect().send(request("/events"));
    }

    @Test
    @Clause("H-7")
    void events_haveTypeIdAndRetry() {
        ServerSentEvent event =
                ServerSentEvent.of("a\r\nb\rc\n")
                        .withType("t")
                        .withId("7")
                        .withRetry(Duration.ofMillis(1_500));
        Talk talk =
                open(
                        events -> {
                            events.retry(Duration.ofSeconds(2)).send(event);
                            events.sendJson("json", Map.of("k", "v\n"));
                            events.send("");
                            events.close();
                        });
        talk.await("0\r\n\r\n");
        String body = talk.received().replaceAll("\r\n[0-9a-f]+\r\n", "");
        assertThat(body)
                .contains("retry: 2000\n\n")
                .contains("event: t\nid: 7\nretry: 1500\ndata: a\ndata: b\ndata: c\ndata: \n\n")
                .contains("event: json\ndata: {\"k\":\"v\\n\"}\n\n")
                .contains("data: \n\n");
    }

    @Test
    @Clause("H-7")
    void events_thatAreInvalid_throw() {
        ServerSentEvent event = ServerSentEvent.of("x");
        for (String bad : List.of("a\nb", "a\rb", "a\0b")) {
            assertThatThrownBy(() -> event.withType(bad)).hasMessageContaining("single line");
            assertThatThrownBy(() -> event.withId(bad)).hasMessageContaining("single line");
        }
        Duration negative = Duration.ofSeconds(-1);
        assertThatThrownBy(() -> event.withRetry(negative))
                .hasMessageContaining("must be at least 0");
        open(events -> {
                    assertThatThrownBy(() -> events.retry(negative))
                            .hasMessageContaining("must be at least 0");
                    assertThatThrownBy(() -> events.keepAlive(negative))
                            .hasMessageContaining("must be at least 0");
                    events.send("done");
                })
                .await("data: done\n\n");
    }

    private static long comments(Talk talk) {
        return talk.received().lines().filter(":"::equals).count();
    }

    @Test
    @Clause("H-7")
    void keepAlive_sendsCommentsAtItsInterval_unlessThereAreEvents() {
        Talk talk = open(events -> events.keepAlive(Duration.ofSeconds(2)));
        talk.await("\r\n\r\n");
        loop.runFor(Duration.ofSeconds(11));
        assertThat(comments(talk)).isEqualTo(5);
        for (int i = 0; i < 6; i++) {
            streams.getFirst().send("x");
            loop.runFor(Duration.ofSeconds(1));
        }
        assertThat(comments(talk)).isEqualTo(5);
        streams.getFirst().keepAlive(Duration.ZERO);
        loop.runFor(Duration.ofSeconds(60));
        assertThat(comments(talk)).isEqualTo(5);
        streams.getFirst().keepAlive(Duration.ofSeconds(20));
        loop.runFor(Duration.ofSeconds(41));
        assertThat(comments(talk)).isEqualTo(7);
    }

    @Test
    @Clause("H-7")
    void keepAlive_byDefault_isFifteenSeconds_andEndsWithTheStream() {
        Talk talk = open(_ -> {});
        talk.await("\r\n\r\n");
        loop.runFor(Duration.ofSeconds(31));
        assertThat(comments(talk)).isEqualTo(2);
        streams.getFirst().close();
        loop.runFor(Duration.ofSeconds(31));
        assertThat(comments(talk)).isEqualTo(2);
    }
}
