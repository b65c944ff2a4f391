package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopTerminatedException;
import dev.gyre.metrics.ConnectionInfo;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// Clause V-7: the connections of a loop, as any thread can list them.
public abstract class InspectionContract extends StreamFixture {
    private static final int MANY = 300;

    /// Describes itself with a fixed text.
    private record Named(String activity) implements Protocol {
        @Override
        public void onData(Stream stream, Buffer data) {
            data.clear();
        }

        @Override
        public String describe(Stream stream) {
            return activity;
        }
    }

    private List<ConnectionInfo> list() {
        return completed(loop.connections());
    }

    /// Runs the loop until a list must be complete, and returns it.
    private List<ConnectionInfo> completed(CompletionStage<List<ConnectionInfo>> listed) {
        settle();
        return join(listed);
    }

    private static List<ConnectionInfo> join(CompletionStage<List<ConnectionInfo>> listed) {
        try {
            return listed.toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("not listed", e);
        }
    }

    private ConnectionInfo infoOf(Stream stream) {
        return list().stream().filter(each -> each.id() == stream.id()).findAny().orElseThrow();
    }

    @Test
    @Clause("V-7")
    void connections_withoutStreams_areNone() {
        assertThat(list()).isEmpty();
    }

    @Test
    @Clause("V-7")
    void connections_ofAnExchange_haveAddressesStateBytesAndActivity() {
        connect(StreamConfig.DEFAULT.withIdleTimeout(Duration.ofHours(1)), StreamConfig.DEFAULT);
        server.protocol(new Named("GET /users/{id}"));
        client.write("hello");
        runUntil("received", () -> server.received() == 5);
        server.write("response");
        runUntil("sent", () -> server.sent() == 8);
        ConnectionInfo info = infoOf(server);
        assertThat(info.loop()).isEqualTo(loop.config().name());
        assertThat(info.peer()).isEqualTo(client.localAddress());
        assertThat(info.local()).isEqualTo(listener.address());
        assertThat(info.state()).isEqualTo(server.state());
        assertThat(info.outputState()).isEqualTo(OutputState.IDLE);
        assertThat(info.received()).isEqualTo(5);
        assertThat(info.sent()).isEqualTo(8);
        assertThat(info.pending()).isZero();
        assertThat(info.tls()).isFalse();
        assertThat(info.idle()).isLessThanOrEqualTo(info.age());
        assertThat(info.nextTimeout())
                .hasValueSatisfying(
                        left ->
                                assertThat(left)
                                        .isBetween(Duration.ofMinutes(50), Duration.ofHours(1)));
        assertThat(info.activity()).isEqualTo("GET /users/{id}");
        assertThat(infoOf(client).activity()).isEmpty();
    }

    @Test
    @Clause("V-7")
    void connections_withUnsentOutput_haveItPending() {
        connect();
        server.write("not flushed yet");
        ConnectionInfo info = infoOf(server); // Deferred callbacks precede the flush step.
        assertThat(info.pending()).isEqualTo(15);
        assertThat(info.state()).isEqualTo(StreamState.WRITING);
    }

    @Test
    @Clause("V-7")
    void connections_ofAProtocolThatThrows_haveNoActivity() {
        connect();
        server.protocol(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public String describe(Stream stream) {
                        throw new IllegalStateException("provoked");
                    }
                });
        client.protocol((stream, data) -> data.clear());
        assertThat(infoOf(server).activity()).isEmpty();
        assertThat(infoOf(client).activity()).as("of a lambda").isEmpty();
        assertThat(server.isOpen()).isTrue();
    }

    @Test
    @Clause("V-7")
    void describe_byDefault_isTheNameOfTheClass() {
        final class Lines implements Protocol {
            @Override
            public void onData(Stream stream, Buffer data) {}
        }
        connect();
        server.protocol(new Lines());
        assertThat(infoOf(server).activity()).isEqualTo("Lines");
    }

    private void connectMany(Protocol protocol) {
        List<Stream> accepted = new ArrayList<>();
        listener =
                Listener.on(
                        loop,
                        anyPort(),
                        ListenerConfig.DEFAULT,
                        stream -> accepted.add(stream.protocol(protocol)));
        for (int i = 0; i < MANY; i++) {
            outcome(Stream.connect(loop, listener.address())).protocol(protocol);
        }
        runUntil("accepted", () -> accepted.size() == MANY);
    }

    @Test
    @Clause({"V-7", "V-2"})
    void connections_ofManyStreams_areVisitedInPartsOf256PerTick() {
        Map<Long, Integer> visitedInTick = new HashMap<>();
        connectMany(
                new Protocol() {
                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public String describe(Stream stream) {
                        visitedInTick.merge(loop.metrics().ticks(), 1, Integer::sum);
                        return "";
                    }
                });
        Set<Long> ids = list().stream().map(ConnectionInfo::id).collect(Collectors.toSet());
        assertThat(ids).hasSize(2 * MANY);
        assertThat(loop.metrics().streams()).as("V-2: open streams").isEqualTo(2 * MANY);
        assertThat(visitedInTick.values()).containsExactlyInAnyOrder(256, 256, 88);
    }

    @Test
    @Clause("V-7")
    void connections_thatCloseMeanwhile_areSkipped() {
        Map<Long, Stream> unvisited = new TreeMap<>();
        Set<Long> expected = new HashSet<>();
        connectMany(
                new Protocol() {
                    @Override
                    public void onOpen(Stream stream) {
                        unvisited.put(stream.id(), stream);
                    }

                    @Override
                    public void onData(Stream stream, Buffer data) {}

                    @Override
                    public String describe(Stream stream) {
                        unvisited.remove(stream.id());
                        expected.add(stream.id());
                        return "";
                    }
                });
        CompletionStage<List<ConnectionInfo>> listed = loop.connections();
        loop.runSome(); // The first part.
        assertThat(unvisited).hasSize(2 * MANY - 256);
        List<Stream> left = List.copyOf(unvisited.values());
        left.subList(1, left.size()).forEach(Stream::abort); // All but the one visited last.
        expected.add(left.getFirst().id());
        assertThat(completed(listed).stream().map(ConnectionInfo::id))
                .containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    @Clause("V-7")
    void connections_whenTheLoopTerminates_fail() {
        connect();
        CompletionStage<List<ConnectionInfo>> before = loop.connections();
        loop.close();
        for (CompletionStage<?> each : List.of(before, loop.connections())) {
            assertThatThrownBy(() -> each.toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(LoopTerminatedException.class);
        }
    }

    @Test
    @Clause("V-7")
    void id_ofEachStream_isUniqueAndPositive() {
        connect();
        Stream first = server;
        Stream second = outcome(Stream.connect(loop, listener.address()));
        assertThat(Set.of(first.id(), client.id(), second.id())).allMatch(id -> id > 0).hasSize(3);
    }
}
