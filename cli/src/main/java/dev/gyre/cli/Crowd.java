package dev.gyre.cli;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.IntConsumer;

/// Many connections to one server, each of which sends one message at a time and waits for what comes back.
///
/// Loop thread only.
final class Crowd {
    /// How many connections are being made at a time: fewer than wait in a server's queue.
    private static final int AT_A_TIME = 256;

    private final EventLoop loop;
    private final CrowdKind kind;
    private final SocketAddress server;
    private final Member[] members;
    private final Buffer message = Buffer.allocate(EchoMember.MESSAGE_BYTES);
    private final Deferred<@Nullable Void> gathered;
    private final IntConsumer progress;

    private int begun;
    private int connected;
    private boolean leaving;
    private final Map<CloseReason, Integer> dropped = new EnumMap<>(CloseReason.class);

    /// @param progress is told how many there are each time there is one more
    Crowd(EventLoop loop, CrowdKind kind, SocketAddress server, int count, IntConsumer progress) {
        this.loop = loop;
        this.kind = kind;
        this.server = server;
        this.progress = progress;
        members = new Member[count];
        gathered = loop.deferred();
    }

    // ------------------------------------------------------------------ coming

    /// Connects all of them; rejected as soon as one cannot.
    Promise<@Nullable Void> gather() {
        for (int i = 0; i < AT_A_TIME; i++) {
            connectNext();
        }
        return gathered.promise();
    }

    private void connectNext() {
        if (begun == members.length || gathered.promise().isSettled()) {
            return;
        }
        int index = begun++;
        Promise<@Nullable Void> _ =
                Stream.connect(loop, server)
                        .then(
                                stream -> {
                                    arrived(index, stream);
                                    return null;
                                },
                                failure -> {
                                    gathered.reject(failure);
                                    return null;
                                });
    }

    private void arrived(int index, Stream stream) {
        if (leaving) {
            stream.abort();
            return;
        }
        Member member = kind.member(index, this);
        members[index] = member;
        member.take(stream);
        connected++;
        progress.accept(connected);
        if (connected == members.length) {
            gathered.resolve(null);
        } else {
            connectNext();
        }
    }

    // ------------------------------------------------------------------ being there

    int size() {
        return members.length;
    }

    Member member(int index) {
        return members[index];
    }

    EventLoop loop() {
        return loop;
    }

    /// An empty one that is everybody's, for as long as it takes to write it.
    Buffer message() {
        return message.clear();
    }

    void lost(CloseReason reason) {
        if (!leaving) {
            dropped.merge(reason, 1, Integer::sum);
        }
    }

    /// How many connections have ended without being told to.
    int dropped() {
        return dropped.values().stream().mapToInt(Integer::intValue).sum();
    }

    /// The same by reason.
    Map<CloseReason, Integer> droppedBy() {
        return dropped;
    }

    // ------------------------------------------------------------------ going

    /// Leaves without ceremony: sockets that are closed in order would be kept by the kernel for a minute.
    void leave() {
        leaving = true;
        for (Member member : members) {
            if (member != null) {
                member.leave();
            }
        }
    }
}
