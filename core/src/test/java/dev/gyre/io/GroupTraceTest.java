package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.conformance.On;
import dev.gyre.metrics.TraceEvent;
import dev.gyre.metrics.TraceEvent.Kind;

import org.junit.jupiter.api.Test;

import java.net.Socket;
import java.util.List;

/// Clause V-6 for the loops of a group.
@On("epoll")
class GroupTraceTest extends GroupFixture {
    @Override
    protected BackendKind backend() {
        return BackendKind.EPOLL;
    }

    private List<TraceEvent> eventsOf(Kind kind) {
        return group.trace().events().stream().filter(each -> each.kind() == kind).toList();
    }

    @Test
    @Clause("V-6")
    void trace_ofAGroup_includesLoopsThatReplaceFailedOnes() throws Exception {
        try (LogCapture _ = new LogCapture()) {
            group.trace().start();
            listen(ListenerConfig.DEFAULT);
            exchange(connect(), "before");
            await("opened", () -> eventsOf(Kind.OPENED).size() == 1);
            List<EventLoop> before = group.loops();
            before.forEach(GroupFixture::fail);
            await("replaced", () -> group.loops().stream().noneMatch(before::contains));
            exchange(connect(), "after");
            await("opened", () -> eventsOf(Kind.OPENED).size() == 2);
            assertThat(eventsOf(Kind.CLOSED)).as("by the failure").isNotEmpty();
            group.trace().stop();
            assertThat(group.loops()).noneMatch(loop -> loop.trace().isOn());
        }
    }

    @Test
    @Clause("V-6")
    void trace_ofAConnectionThatMoves_followsIt() throws Exception {
        listener =
                Listener.on(
                        group,
                        anyPort(),
                        ListenerConfig.DEFAULT,
                        stream -> {
                            stream.onData(stream::write);
                            int there = stream.loop() == loop(0) ? 1 : 0;
                            stream.moveTo(loop(there));
                        });
        group.start();
        group.trace().start();
        Socket client = connect();
        exchange(client, "moved");
        List<TraceEvent> moved = eventsOf(Kind.MOVED);
        assertThat(moved)
                .extracting(TraceEvent::detail)
                .containsExactlyInAnyOrder("left for another loop", "arrived");
        assertThat(moved).extracting(TraceEvent::connection).doesNotContain(0L);
        assertThat(moved.get(0).connection()).isEqualTo(moved.get(1).connection());
        assertThat(moved.get(0).loop()).isNotEqualTo(moved.get(1).loop());
    }
}
