package dev.gyre.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// Clause V-4: what the Flight Recorder records.
@Timeout(120)
class JfrEventsTest {
    @TempDir Path directory;

    private interface Action {
        void run() throws Exception;
    }

    /// Returns the events of a type that a recording of the action has.
    private List<RecordedEvent> record(String type, Action action) throws Exception {
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            action.run();
            recording.stop();
            recording.dump(file);
        }
        return read(file).stream()
                .filter(event -> event.getEventType().getName().equals("dev.gyre." + type))
                .toList();
    }

    private static List<RecordedEvent> read(Path file) throws IOException {
        return RecordingFile.readAllEvents(file);
    }

    private static EventLoop open(String name) {
        return EventLoop.open(LoopConfig.DEFAULT.withName(name));
    }

    @Test
    @Clause("V-4")
    void slowCallback_above10Milliseconds_isAnEvent() throws Exception {
        ScriptedBackend backend = new ScriptedBackend();
        Loop loop = Loop.open(LoopConfig.DEFAULT.withName("slow"), backend);
        List<RecordedEvent> events =
                record(
                        "SlowCallback",
                        () -> {
                            loop.submit(() -> backend.advance(9_999_999));
                            loop.submit(() -> backend.advance(12_000_000));
                            loop.runUntilEmpty();
                        });
        loop.close();
        assertThat(events).hasSize(1);
        RecordedEvent event = events.getFirst();
        assertThat(event.getString("loop")).isEqualTo("slow");
        assertThat(event.getString("kind")).isEqualTo("TASK");
        assertThat(event.getDuration("elapsed")).isEqualTo(Duration.ofMillis(12));
        assertThat(event.getEventType().getCategoryNames()).containsExactly("Gyre");
    }

    @Test
    @Clause("V-4")
    void drain_ofALoop_isAnEventWithItsReport() throws Exception {
        List<RecordedEvent> events =
                record(
                        "LoopDrain",
                        () -> {
                            EventLoop loop = open("drained");
                            loop.defer(() -> {});
                            loop.close();
                        });
        assertThat(events).hasSize(1);
        RecordedEvent event = events.getFirst();
        assertThat(event.getString("loop")).isEqualTo("drained");
        assertThat(event.getBoolean("graceful")).isFalse();
        assertThat(event.getLong("abandoned")).isEqualTo(1);
    }

    @Test
    @Clause({"V-4", "V-2"})
    void connections_closedAndRefused_areEvents() throws Exception {
        List<Stream> accepted = new ArrayList<>();
        List<RecordedEvent> closed =
                record(
                        "Connection",
                        () -> {
                            try (EventLoop loop = open("net")) {
                                serve(loop, accepted);
                            }
                        });
        Stream server = accepted.getFirst();
        assertThat(closed)
                .anySatisfy(
                        event -> {
                            assertThat(event.getLong("id")).isEqualTo(server.id());
                            assertThat(event.getString("loop")).isEqualTo("net");
                            assertThat(event.getString("reason")).isEqualTo("ENDED");
                            assertThat(event.getString("peer")).startsWith("127.0.0.1:");
                            assertThat(event.getLong("received")).isEqualTo(5);
                            assertThat(event.getLong("sent")).isEqualTo(5);
                            assertThat(event.getDuration("age")).isPositive();
                        });
        List<RecordedEvent> refused =
                read(directory.resolve("recording.jfr")).stream()
                        .filter(
                                event ->
                                        event.getEventType()
                                                .getName()
                                                .equals("dev.gyre.ConnectionRefused"))
                        .toList();
        assertThat(refused).hasSize(1);
        assertThat(refused.getFirst().getString("cause")).isEqualTo("limit");
    }

    /// Accepts one connection of the peer, which exchanges five bytes, and refuses the second.
    private static void serve(EventLoop loop, List<Stream> accepted) {
        Listener listener =
                Listener.on(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        ListenerConfig.DEFAULT.withMaxConnectionsPerPeer(1),
                        stream -> accepted.add(stream.onData(stream::write)));
        List<Stream> clients = new ArrayList<>();
        Stream.connect(loop, listener.address())
                .then(
                        client -> {
                            clients.add(client);
                            client.onData(data -> client.end());
                            return client.write("hello");
                        });
        while (accepted.isEmpty()) {
            loop.runSome();
        }
        Stream.connect(loop, listener.address()).then(clients::add);
        while (loop.metrics().connectionsRefused() == 0
                || accepted.getFirst().closeReason() != CloseReason.ENDED) {
            loop.runSome();
        }
    }

    @Test
    @Clause({"V-4", "V-3"})
    void stall_detected_isAnEvent() throws Exception {
        Stall stall =
                new Stall(
                        "blocked",
                        Instant.EPOCH,
                        Duration.ofSeconds(3),
                        Duration.ofSeconds(1),
                        true,
                        CallbackKind.IO,
                        "connection 42",
                        List.of(new StackTraceElement("com.acme.Handler", "handle", null, 12)));
        List<RecordedEvent> events = record("Stall", () -> JfrEvents.stall(stall));
        assertThat(events).hasSize(1);
        RecordedEvent event = events.getFirst();
        assertThat(event.getString("loop")).isEqualTo("blocked");
        assertThat(event.getDuration("elapsed")).isEqualTo(Duration.ofSeconds(3));
        assertThat(event.getDuration("limit")).isEqualTo(Duration.ofSeconds(1));
        assertThat(event.getString("description")).isEqualTo("connection 42");
        assertThat(event.getString("stack")).contains("com.acme.Handler.handle");
        assertThat(event.getBoolean("ended")).isTrue();
    }

    // ------------------------------------------------------------------ without a recording

    /// A loop with a slow task, a refused connection and a shutdown.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            try (EventLoop loop = open("program")) {
                serve(loop, new ArrayList<>());
                long end = System.nanoTime() + 11_000_000;
                loop.submit(
                        () -> {
                            while (System.nanoTime() < end) {
                                Thread.onSpinWait();
                            }
                        });
                loop.runSome();
                System.out.println("served");
            }
        }
    }

    private static String run(String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        String classes = placeOf(EventLoop.class) + ":" + placeOf(Program.class);
        command.addAll(
                List.of(
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classes,
                        Program.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private static Path placeOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    @Test
    @Clause("V-4")
    void program_withoutARecording_loadsNoEvent() throws Exception {
        String output = run("-Xshare:off", "-Xlog:class+load");
        assertThat(output).contains("served").contains("dev.gyre.internal.base.JfrEvents ");
        assertThat(output).doesNotContain("JfrEvents$").doesNotContain("jdk.jfr.Event ");
    }

    @Test
    @Clause("V-4")
    void program_withoutTheModule_runs() throws Exception {
        assertThat(run("--limit-modules", "java.base,java.logging,jdk.unsupported"))
                .contains("served");
    }

    @Test
    @Clause("V-4")
    void program_withARecording_recordsIt() throws Exception {
        Path file = directory.resolve("program.jfr");
        String output = run("-XX:StartFlightRecording=filename=" + file);
        assertThat(output).contains("served");
        assertThat(read(file))
                .extracting(event -> event.getEventType().getName())
                .contains(
                        "dev.gyre.SlowCallback",
                        "dev.gyre.LoopDrain",
                        "dev.gyre.Connection",
                        "dev.gyre.ConnectionRefused");
    }
}
