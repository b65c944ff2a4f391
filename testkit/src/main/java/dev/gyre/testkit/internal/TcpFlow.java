package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// The bytes of one end of a connection: those that came and were not read, those that were written and have not
/// arrived. How much may be under way is bounded by what the other end has room for, and how much may be written by
/// what has arrived.
final class TcpFlow {
    private static final int MOST_SEGMENT_BYTES = 16_384;

    private static final int NO_URGENT = 0;
    private static final int URGENT_UNREAD = 1;
    private static final int URGENT_READ = 2;

    final Network.Line line = new Network.Line();
    private final TcpSocket socket;
    private @Nullable TcpSocket peer;

    private final ByteQueue inbox = new ByteQueue();
    private long readPosition;
    private long receivedPosition;

    /// Read, and not yet told to the other end as room.
    private int roomToTell;

    private int urgent = NO_URGENT;
    private long urgentPosition;
    private byte urgentByte;

    private final ByteQueue outbox = new ByteQueue();
    private int unconfirmed;
    private long writePosition;
    private long sentPosition;
    private long urgentWritten = -1;

    /// How many more bytes the other end has room for.
    private int credit;

    /// A write found too little room: tell when there is more.
    private boolean noSpace;

    private boolean ending;
    private boolean endSent;

    /// The other end knows that this one sends no more.
    boolean endConfirmed;

    /// The other end sends no more.
    boolean ended;

    TcpFlow(TcpSocket socket) {
        this.socket = socket;
    }

    // ------------------------------------------------------------------ beginning and ending

    void connectTo(TcpSocket other) {
        peer = other;
        credit = other.receiveLimit;
        transmit();
    }

    @Nullable TcpSocket peer() {
        return peer;
    }

    void reset() {
        discard();
        inbox.clear();
        readPosition = 0;
        receivedPosition = 0;
        writePosition = 0;
        sentPosition = 0;
        urgent = NO_URGENT;
        ended = false;
        ending = false;
        endSent = false;
        endConfirmed = false;
        peer = null;
    }

    /// What was not sent is lost; what has come can still be read.
    void fail() {
        outbox.clear();
        unconfirmed = 0;
    }

    void discard() {
        fail();
        inbox.clear();
    }

    /// Sends no more, once all that was written is sent.
    void end() {
        if (!ending) {
            ending = true;
            transmit();
        }
    }

    boolean isEnding() {
        return ending;
    }

    // ------------------------------------------------------------------ what the application does

    /// Bytes that came and nobody read.
    boolean hasUnread() {
        return !inbox.isEmpty();
    }

    /// The urgent byte alone is not to be read the ordinary way.
    boolean isReadable() {
        return inbox.size() > (isAtUrgent() ? 1 : 0);
    }

    private boolean isAtUrgent() {
        return urgent != NO_URGENT && urgentPosition == readPosition && !inbox.isEmpty();
    }

    boolean hasUrgent() {
        return urgent == URGENT_UNREAD;
    }

    byte takeUrgent() {
        urgent = URGENT_READ;
        return urgentByte;
    }

    /// A read stops before the urgent byte.
    int available() {
        int all = inbox.size();
        return urgent != NO_URGENT && urgentPosition > readPosition
                ? (int) Math.min(all, urgentPosition - readPosition)
                : all;
    }

    int room() {
        return Math.max(0, socket.sendLimit - used());
    }

    int read(byte[] into, int length) {
        if (isAtUrgent()) {
            inbox.take(1);
            passed(1);
        }
        int read = Math.min(length, available());
        if (read > 0) {
            inbox.take(into, 0, read);
            passed(read);
        }
        return read;
    }

    private void passed(int bytes) {
        readPosition += bytes;
        if (urgent != NO_URGENT && readPosition > urgentPosition) {
            urgent = NO_URGENT;
        }
        roomToTell += bytes;
        if (roomToTell >= socket.receiveLimit / 4) {
            int room = roomToTell;
            roomToTell = 0;
            toPeer(other -> other.flow.granted(room));
        }
    }

    private void granted(int room) {
        credit += room;
        transmit();
    }

    private int used() {
        return outbox.size() + unconfirmed;
    }

    /// As Linux has it: when at least half as much is free as is in use. Asking is what makes it tell later.
    boolean isWritable() {
        boolean writable = socket.sendLimit - used() >= used() / 2 && used() < socket.sendLimit;
        noSpace |= !writable;
        return writable;
    }

    int write(byte[] from, int length, boolean isUrgent) {
        int taken = Math.min(length, socket.sendLimit - used());
        if (taken < length) {
            noSpace = true;
        }
        if (taken <= 0) {
            return 0;
        }
        byte[] copy = new byte[taken];
        System.arraycopy(from, 0, copy, 0, taken);
        outbox.add(copy);
        writePosition += taken;
        if (isUrgent && taken == length) {
            urgentWritten = writePosition - 1;
        }
        transmit();
        return taken;
    }

    // ------------------------------------------------------------------ the way to the other end

    private void transmit() {
        while (peer != null && !outbox.isEmpty() && credit > 0) {
            int size = Math.min(Math.min(outbox.size(), credit), MOST_SEGMENT_BYTES);
            byte[] segment = outbox.take(size);
            credit -= size;
            unconfirmed += size;
            sentPosition += size;
            boolean urgentLast = urgentWritten >= 0 && urgentWritten == sentPosition - 1;
            toPeer(other -> other.flow.arrived(segment, urgentLast));
        }
        if (peer != null && ending && !endSent && outbox.isEmpty()) {
            endSent = true;
            toPeer(
                    other -> {
                        other.receiveEnd();
                        other.flow.line(
                                socket,
                                () -> {
                                    endConfirmed = true;
                                    socket.closeIfThrough();
                                });
                    });
        }
    }

    private void arrived(byte[] segment, boolean urgentLast) {
        TcpSocket from = peer;
        if (urgentLast && socket.isConnected()) {
            noteUrgent(segment);
        }
        if (socket.refusesData()) {
            socket.refuse();
            return;
        }
        if (socket.kernel.mischief.resets()) {
            socket.kernel.note("the network resets " + socket);
            socket.refuse();
            return;
        }
        socket.kernel.note(
                "arrived " + segment.length + Recorder.nameOf(segment, 0, segment.length)
                        + " at " + socket);
        inbox.add(segment);
        receivedPosition += segment.length;
        if (from != null) {
            line(from, () -> from.flow.confirmed(segment.length));
        }
        socket.wake(SimulatedSocket.READABLE_KEY);
    }

    /// There is one urgent byte at a time. An older one that would be next is gone; elsewhere it is a byte like any
    /// other from now on.
    private void noteUrgent(byte[] segment) {
        if (isAtUrgent()) {
            inbox.take(1);
            passed(1);
        }
        urgent = URGENT_UNREAD;
        urgentPosition = receivedPosition + segment.length - 1;
        urgentByte = segment[segment.length - 1];
    }

    private void confirmed(int bytes) {
        unconfirmed = Math.max(0, unconfirmed - bytes);
        if (noSpace && isWritable()) {
            noSpace = false;
            socket.wake(EPOLLOUT);
        }
    }

    /// Has something happen at the other end.
    void toPeer(Consumer<TcpSocket> arrival) {
        TcpSocket other = peer;
        if (other != null) {
            line(other, () -> arrival.accept(other));
        }
    }

    /// The same to somebody who is not the peer yet, or no more.
    void line(TcpSocket other, Runnable arrival) {
        assert other != socket : "nobody sends to himself along a line";
        socket.kernel.network.carry(line, arrival);
    }

    /// From where nobody is: an answer that comes to this end.
    void back(Runnable arrival) {
        socket.kernel.network.carry(new Network.Line(), arrival);
    }
}
