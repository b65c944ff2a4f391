package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.metrics.Trace;
import dev.gyre.metrics.TraceEvent;
import dev.gyre.metrics.TraceEvent.Kind;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Clause V-6: what a trace records, and of which connections.
public abstract class TraceContract extends StreamFixture {
    @Override
    protected LoopConfig config() {
        return super.config().withUncaughtHandler((_, thrown) -> events.add("thrown " + thrown));
    }

    private List<TraceEvent> eventsOf(Stream stream) {
        return loop.trace().events().stream()
                .filter(event -> event.connection() == stream.id())
                .toList();
    }

    private List<String> textOf(Stream stream) {
        return eventsOf(stream).stream().map(each -> each.kind() + " " + each.detail()).toList();
    }

    private List<Kind> kindsOf(Stream stream) {
        return eventsOf(stream).stream().map(TraceEvent::kind).toList();
    }

    private void exchange(String text) {
        long before = server.received();
        client.write(text);
        runUntil("received", () -> server.received() == before + text.length());
    }

    @Test
    @Clause("V-6")
    void trace_byDefault_isOffAndRecordsNothing() {
        connect();
        server.onData(Buffer::clear);
        exchange("hello");
        assertThat(loop.trace().isOn()).isFalse();
        assertThat(server.isTraced()).isFalse();
        assertThat(loop.trace().events()).isEmpty();
    }

    @Test
    @Clause("V-6")
    void trace_ofAll_recordsTheLifeOfEachConnection() {
        loop.trace().start();
        connect();
        server.onData(server::write);
        client.onData(Buffer::clear);
        exchange("hello");
        runUntil("echoed", () -> client.received() == 5);
        client.end();
        awaitClosed(server);
        assertThat(textOf(server))
                .containsSubsequence("READ 5 bytes", "WROTE 5 bytes", "READ end", "WROTE end")
                .endsWith("CLOSED ENDED");
        String peer = "127.0.0.1:" + ((InetSocketAddress) server.peer()).getPort();
        assertThat(textOf(server).getFirst()).isEqualTo("OPENED from " + peer);
        assertThat(textOf(client).getFirst()).startsWith("OPENED to 127.0.0.1:");
        assertThat(loop.trace().events())
                .allMatch(event -> event.loop().equals(loop.config().name()))
                .isSortedAccordingTo(Comparator.comparing(TraceEvent::time));
    }

    @Test
    @Clause("V-6")
    void trace_ofOneConnection_recordsNoOther() {
        connect();
        server.onData(Buffer::clear);
        loop.trace().connection(server.id()).start();
        exchange("hello");
        assertThat(loop.trace().isOn()).isTrue();
        assertThat(server.isTraced()).isTrue();
        assertThat(client.isTraced()).isFalse();
        assertThat(textOf(server)).containsExactly("READ 5 bytes");
        assertThat(loop.trace().events()).hasSize(1);
    }

    @Test
    @Clause("V-6")
    void trace_ofAPeer_recordsItsConnections() throws Exception {
        connect();
        loop.trace().peer(InetAddress.getByName("192.0.2.1")).start();
        assertThat(server.isTraced()).isFalse();
        loop.trace().peer(InetAddress.getLoopbackAddress()).start();
        assertThat(server.isTraced()).isTrue();
    }

    @Test
    @Clause("V-6")
    void trace_ofARoute_recordsItsExchangesOnly() {
        connect();
        server.onData(Buffer::clear);
        loop.trace().route("/users/{id}").start();
        server.traceRoute("/users/{id}");
        server.trace(() -> "GET /users/7");
        exchange("a");
        server.traceRoute("/health");
        server.trace(() -> "GET /health");
        exchange("b");
        assertThat(textOf(server)).containsExactly("PROTOCOL GET /users/7", "READ 1 bytes");
    }

    @Test
    @Clause("V-6")
    void trace_detailOfAProtocol_isComputedOnlyIfTraced() {
        connect();
        AtomicInteger computed = new AtomicInteger();
        server.trace(() -> "event " + computed.incrementAndGet());
        assertThat(computed).hasValue(0);
        loop.trace().start();
        server.trace(() -> "event " + computed.incrementAndGet());
        assertThat(textOf(server)).containsExactly("PROTOCOL event 1");
    }

    @Test
    @Clause("V-6")
    void trace_ofPausesWaterMarksTimeoutsAndErrors_recordsThem() {
        connect(StreamConfig.DEFAULT.withWaterMarks(1, 2), StreamConfig.DEFAULT);
        client.onData(Buffer::clear);
        loop.trace().connection(server.id()).start();
        server.protocol(new Failing());
        server.pause();
        server.pause();
        server.resume();
        server.write("four");
        runUntil("sent", () -> server.pending() == 0);
        server.idleTimeout(Duration.ofMillis(5));
        runUntil("timed out", () -> kindsOf(server).contains(Kind.TIMEOUT));
        server.idleTimeout(Duration.ZERO);
        client.write("x");
        awaitClosed(server);
        assertThat(textOf(server))
                .containsSubsequence(
                        "PAUSED ",
                        "RESUMED ",
                        "HIGH_WATER 4 bytes pending",
                        "WROTE 4 bytes",
                        "LOW_WATER 0 bytes pending",
                        "TIMEOUT IDLE, continues",
                        "READ 1 bytes",
                        "ERROR java.lang.IllegalStateException: provoked");
        assertThat(kindsOf(server)).containsOnlyOnce(Kind.PAUSED).endsWith(Kind.CLOSED);
    }

    private static final class Failing implements Protocol {
        @Override
        public void onData(Stream stream, Buffer data) {
            throw new IllegalStateException("provoked");
        }

        @Override
        public boolean onTimeout(Stream stream, TimeoutKind timeout) {
            return true;
        }
    }

    private static final class Indescribable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("provoked");
        }
    }

    @Test
    @Clause("V-6")
    void trace_ofAnErrorWithoutADescription_recordsItsClassAndClosesTheStream() {
        connect();
        loop.trace().all().start();
        server.onData(
                _ -> {
                    throw new Indescribable();
                });
        client.write("x");
        awaitClosed(server);
        assertThat(server.closeReason()).isEqualTo(CloseReason.HANDLER_FAILED);
        assertThat(textOf(server)).contains("ERROR " + Indescribable.class.getName());
    }

    @Test
    @Clause("V-6")
    void trace_ofAll_recordsTimers() {
        loop.trace().start();
        AtomicInteger fired = new AtomicInteger();
        loop.after(Duration.ZERO, _ -> fired.incrementAndGet());
        runUntil("fired", () -> fired.get() == 1);
        assertThat(loop.trace().events())
                .anyMatch(event -> event.kind() == Kind.TIMER && event.connection() == 0);
    }

    @Test
    @Clause("V-6")
    void events_beyondTheCapacity_overwriteTheOldest() {
        connect();
        loop.trace().connection(server.id()).start();
        for (int i = 0; i < 10_000; i++) {
            int number = i;
            server.trace(() -> "event " + number);
        }
        List<TraceEvent> events = loop.trace().events();
        assertThat(events).hasSize(8_192);
        assertThat(events.getFirst().detail()).isEqualTo("event 1808");
        assertThat(events.getLast().detail()).isEqualTo("event 9999");
    }

    @Test
    @Clause("V-6")
    void stop_keepsTheEvents_andClearDropsThem() {
        connect();
        Trace trace = loop.trace().all();
        trace.start();
        server.trace(() -> "first");
        trace.stop();
        server.trace(() -> "second");
        assertThat(trace.isOn()).isFalse();
        assertThat(textOf(server)).containsExactly("PROTOCOL first");
        trace.clear();
        assertThat(trace.events()).isEmpty();
        trace.start();
        server.trace(() -> "third");
        trace.clear();
        server.trace(() -> "fourth");
        assertThat(textOf(server)).containsExactly("PROTOCOL fourth");
    }

    @Test
    @Clause("V-6")
    void text_ofEvents_isOneLineEach() {
        connect();
        loop.trace().connection(server.id()).start();
        server.trace(() -> "GET /\r\nX");
        TraceEvent event = loop.trace().events().getFirst();
        assertThat(TraceEvent.text(loop.trace().events()))
                .isEqualTo(
                        "%s %s #%d PROTOCOL GET / X\n"
                                .formatted(event.time(), loop.config().name(), server.id()));
    }
}
