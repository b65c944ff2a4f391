package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.SystemCallException;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;
import dev.gyre.testkit.internal.SeededRandom;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A random program of operations over many connections. In any world each operation completes
/// exactly once, bytes arrive in order, no buffer is used after its release, and nothing leaks.
final class RandomProgram {
    private static final int SERVER_PORT = 80;
    private static final int PEER_PORT = 90;
    private static final int NOBODY_PORT = 99;
    private static final int STEPS = 60;
    private static final int MAX_ENDS = 24;
    private static final int MAX_NESTED_ACTS = 200;

    /// A peer of the world, and its connection in the program once that is known.
    private static final class Talk {
        final SimulatedPeer peer;
        final ByteArrayOutputStream sent = new ByteArrayOutputStream();
        boolean endedByScript;

        /// Whether the peer reset the connection, or closed it with unread input: bytes may be
        /// lost.
        boolean careless;

        Talk(SimulatedPeer peer) {
            this.peer = peer;
        }
    }

    private record Link(ProgramEnd one, ProgramEnd other) {}

    private final SimulatedWorld world;
    private final SeededRandom random;
    final Operations operations;
    private final List<ProgramEnd> ends = new ArrayList<>();
    private final List<Link> links = new ArrayList<>();
    private final Map<InetSocketAddress, Talk> talks = new HashMap<>();
    private final Map<Talk, ProgramEnd> talking = new HashMap<>();
    private final List<Descriptor> connecting = new ArrayList<>();
    private final SimulatedListener peers;
    private Descriptor listener;
    private AcceptOperation accept;
    private int nestedActs;
    private boolean over;
    long started;
    long completed;

    RandomProgram(SimulatedWorld world) {
        this.world = world;
        random = new SeededRandom(world.seed() * 31 + 7);
        operations = Operations.on(world.loop());
        peers = world.listen(PEER_PORT);
        peers.onConnect(peer -> talks.put(peer.address(), new Talk(peer)));
    }

    int below(int bound) {
        return random.below(bound);
    }

    byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) random.next();
        }
        return bytes;
    }

    void run() {
        listen();
        for (int step = 0; step < STEPS; step++) {
            act();
            if (random.below(3) == 0) {
                world.advance(Duration.ofNanos(random.below(400_000)));
                checkStreams();
            }
        }
        finish();
    }

    // ------------------------------------------------------------------ acting

    /// Sometimes from inside a callback.
    void perhapsAct() {
        if (!over && nestedActs < MAX_NESTED_ACTS && random.below(4) == 0) {
            nestedActs++;
            act();
        }
    }

    private void act() {
        int choice = random.below(100);
        if (ends.size() < 2 || (choice < 12 && ends.size() < MAX_ENDS)) {
            open();
        } else if (choice < 45) {
            someEnd().write(1 + random.below(random.below(5) == 0 ? 100_000 : 2_000));
        } else if (choice < 65) {
            read(someEnd());
        } else if (choice < 72) {
            cancel(someEnd());
        } else if (choice < 76) {
            endOutput(someEnd());
        } else if (choice < 81) {
            someEnd().close();
        } else {
            actAsPeer();
        }
    }

    private ProgramEnd someEnd() {
        return ends.get(random.below(ends.size()));
    }

    private void read(ProgramEnd end) {
        if (random.below(4) == 0) {
            end.receive();
        } else {
            end.read();
        }
    }

    private void cancel(ProgramEnd end) {
        if (!end.isOpen() || end.pending.isEmpty()) {
            return;
        }
        if (random.below(3) == 0) {
            operations.cancelAll(end.descriptor);
        } else {
            boolean _ = end.pending.get(random.below(end.pending.size())).cancel();
        }
    }

    private void endOutput(ProgramEnd end) {
        if (end.isOpen() && end.writing.isEmpty()) {
            try {
                Sockets.shutdownOutput(world.loop(), end.descriptor);
            } catch (SystemCallException e) {
                assertThat(e.errnoName()).isIn("ENOTCONN", "ENOTSOCK");
            }
        }
    }

    // ------------------------------------------------------------------ opening

    private void open() {
        try {
            switch (random.below(4)) {
                case 0 -> {
                    List<Descriptor> pair = Sockets.pair(world.loop());
                    link(add("pair", pair.get(0)), add("pair", pair.get(1)));
                }
                case 1 -> {
                    SimulatedPipe pipe = world.pipe();
                    ProgramEnd writer = add("pipe", pipe.writer());
                    ProgramEnd reader = add("pipe", pipe.reader());
                    writer.canRead = false;
                    reader.canWrite = false;
                    link(writer, reader);
                }
                case 2 -> {
                    SimulatedPeer peer = world.connect(SERVER_PORT);
                    talks.put(peer.address(), new Talk(peer));
                }
                default -> connect(random.below(8) == 0 ? NOBODY_PORT : PEER_PORT);
            }
        } catch (SystemCallException e) {
            assertThat(e.errnoName()).isIn("EMFILE", "ENFILE");
        }
    }

    private ProgramEnd add(String sort, Descriptor descriptor) {
        ProgramEnd end = new ProgramEnd(this, sort + " " + ends.size(), descriptor);
        ends.add(end);
        if (over) {
            end.drain(); // Too late for the program, but the connection must end.
        }
        return end;
    }

    private void link(ProgramEnd one, ProgramEnd other) {
        links.add(new Link(one, other));
    }

    private void listen() {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), SERVER_PORT);
        while (listener == null) {
            try {
                listener = Sockets.listen(world.loop(), address);
            } catch (SystemCallException e) {
                assertThat(e.errnoName()).isIn("EMFILE", "ENFILE");
            }
        }
        boolean each = random.below(2) == 0;
        accept =
                each
                        ? operations.acceptEach(listener, this::accepted)
                        : operations.accept(listener, this::accepted);
        accept.start();
    }

    private void accepted(AcceptOperation op) {
        if (op.result() >= 0) {
            InetSocketAddress from = peerOf(op);
            ProgramEnd end = add("accepted", op.accepted());
            if (from != null) {
                Talk talk = talks.get(from);
                assertThat(talk).as("nobody else connects than our peers").isNotNull();
                talking.put(talk, end);
            }
        }
        if (!op.isPending() && !over) {
            op.start();
        }
        perhapsAct();
    }

    /// Returns `null` if the peer has disconnected again.
    private static InetSocketAddress peerOf(AcceptOperation op) {
        try {
            return (InetSocketAddress) op.peer();
        } catch (SystemCallException e) {
            assertThat(e.errnoName()).isEqualTo("ENOTCONN");
            return null;
        }
    }

    private void connect(int port) {
        var to = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Descriptor socket = Sockets.stream(world.loop(), to);
        connecting.add(socket);
        Operation connect =
                operations.connect(
                        socket,
                        to,
                        op -> {
                            completed++;
                            connecting.remove(socket);
                            if (op.result() == 0 && !over) {
                                ProgramEnd end = add("connected", socket);
                                InetSocketAddress own = ownAddress(socket);
                                Talk talk = own == null ? null : talks.get(own);
                                if (talk != null) {
                                    talking.put(talk, end);
                                }
                            } else {
                                socket.close();
                            }
                            perhapsAct();
                        });
        connect.start();
        started++;
        if (random.below(10) == 0) {
            connect.cancel();
        }
    }

    private InetSocketAddress ownAddress(Descriptor socket) {
        try {
            return (InetSocketAddress) Sockets.localAddress(world.loop(), socket);
        } catch (SystemCallException | ClosedDescriptorException e) {
            return null;
        }
    }

    // ------------------------------------------------------------------ peers

    private void actAsPeer() {
        if (talks.isEmpty()) {
            return;
        }
        List<Talk> all =
                talks.entrySet().stream()
                        .sorted(java.util.Comparator.comparing(entry -> entry.getKey().toString()))
                        .map(Map.Entry::getValue)
                        .toList();
        Talk talk = all.get(random.below(all.size()));
        switch (random.below(12)) {
            case 0 -> {
                talk.careless = true;
                talk.endedByScript = true;
                talk.peer.reset();
            }
            case 1 -> {
                talk.careless = true;
                talk.endedByScript = true;
                talk.peer.close();
            }
            case 2 -> {
                talk.endedByScript = true;
                talk.peer.halfClose();
            }
            case 3 -> talk.peer.pauseReading();
            case 4, 5 -> talk.peer.resumeReading();
            default -> {
                if (!talk.endedByScript) {
                    byte[] bytes = bytes(1 + random.below(5_000));
                    talk.peer.send(bytes);
                    talk.sent.writeBytes(bytes);
                }
            }
        }
    }

    // ------------------------------------------------------------------ what must hold

    private void checkStreams() {
        for (Link link : links) {
            prefix(link.one, link.other.received.toByteArray(), link.one.sentOrBeingSent());
            prefix(link.other, link.one.received.toByteArray(), link.other.sentOrBeingSent());
        }
        talking.forEach(
                (talk, end) -> {
                    prefix(end, talk.peer.received(), end.sentOrBeingSent());
                    prefix(end, end.received.toByteArray(), talk.sent.toByteArray());
                });
        ends.forEach(ProgramEnd::verifyBuffers);
    }

    private static void prefix(ProgramEnd end, byte[] received, byte[] sent) {
        boolean isPrefix =
                received.length <= sent.length
                        && Arrays.equals(received, 0, received.length, sent, 0, received.length);
        if (!isPrefix) {
            int at = Arrays.mismatch(received, sent);
            throw new AssertionError(
                    end.name
                            + ": received "
                            + received.length
                            + " bytes that are not the beginning of the "
                            + sent.length
                            + " sent: they differ at "
                            + at);
        }
    }

    /// If all ends read, all bytes arrive. A lost event would show here.
    private void checkWhole() {
        for (Link link : links) {
            if (isSound(link.one) && isSound(link.other)) {
                whole(link.one, link.other.received.toByteArray(), link.one);
                whole(link.other, link.one.received.toByteArray(), link.other);
            }
        }
        talking.forEach(
                (talk, end) -> {
                    if (isSound(end) && !talk.careless && !talk.peer.isReset()) {
                        whole(end, talk.peer.received(), end);
                        assertThat(end.received.size())
                                .as("%s: received of what %s has sent", end.name, talk.peer)
                                .isEqualTo(talk.sent.size());
                    }
                });
    }

    private static boolean isSound(ProgramEnd end) {
        return end.isOpen() && !end.failed;
    }

    private static void whole(ProgramEnd end, byte[] received, ProgramEnd sender) {
        assertThat(sender.writing.size()).as("%s: writes that never completed", end.name).isZero();
        assertThat(received.length)
                .as("%s: bytes that arrived of those sent", end.name)
                .isEqualTo(sender.sent.size());
    }

    /// Ends all connections: first reads the written bytes, then closes.
    private void finish() {
        over = true;
        talks.values().forEach(talk -> talk.peer.resumeReading());
        List.copyOf(ends).forEach(ProgramEnd::drain);
        world.advance(Duration.ofSeconds(5));
        checkStreams();
        checkWhole();
        accept.cancel();
        listener.close();
        List.copyOf(connecting).forEach(Descriptor::close);
        for (ProgramEnd end : ends) {
            end.close();
        }
        world.advance(Duration.ofMinutes(5)); // Longer than the longest attempt to connect.
        checkStreams();
        assertThat(accept.isPending()).as("accepting has ended").isFalse();
        for (ProgramEnd end : ends) {
            assertThat(end.pending).as("%s: pending after its close", end.name).isEmpty();
        }
        assertThat(completed).as("each start completes once").isEqualTo(started);
        assertThat(world.openDescriptors()).as("open in the simulated kernel").isZero();
    }
}
