package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// The bytes of one end of a connection: received and unread, and written and undelivered. The
/// window of the other end bounds the bytes in flight. Deliveries bound the bytes written.
final class TcpFlow {
    private static final int MAX_SEGMENT_BYTES = 16_384;

    private static final int NO_URGENT = 0;
    private static final int URGENT_UNREAD = 1;
    private static final int URGENT_READ = 2;

    final Network.Line line = new Network.Line();
    private final TcpSocket socket;
    private @Nullable TcpSocket peer;

    private final ByteQueue inbox = new ByteQueue();
    private long readPosition;
    private long receivedPosition;

    /// Bytes read and not yet announced as window.
    private int unannouncedWindow;

    private int urgent = NO_URGENT;
    private long urgentPosition;
    private byte urgentByte;

    private final ByteQueue outbox = new ByteQueue();
    private int unconfirmed;
    private long writePosition;
    private long sentPosition;
    private long urgentWritten = -1;

    /// The window of the other end in bytes.
    private int credit;

    /// A write was short: notify when there is space.
    private boolean noSpace;

    private boolean ending;
    private boolean endSent;

    /// The other end has received the end of output.
    boolean endConfirmed;

    /// The other end has ended its output.
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

    /// Drops unsent bytes. Received bytes can still be read.
    void fail() {
        outbox.clear();
        unconfirmed = 0;
    }

    void discard() {
        fail();
        inbox.clear();
    }

    /// Ends the output after all written bytes are sent.
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

    /// Returns the number of unread bytes.
    boolean hasUnread() {
        return !inbox.isEmpty();
    }

    /// The urgent byte is not part of the ordinary input.
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

    /// Returns the readable bytes before the urgent byte.
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
        unannouncedWindow += bytes;
        if (unannouncedWindow >= socket.receiveLimit / 4) {
            int room = unannouncedWindow;
            unannouncedWindow = 0;
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

    /// Returns whether the output is writable by the rule of Linux: at least half as much is free
    /// as is in use. Requests a notification if not.
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
            int size = Math.min(Math.min(outbox.size(), credit), MAX_SEGMENT_BYTES);
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
        if (socket.kernel.injector.resets()) {
            socket.kernel.note("the network resets " + socket);
            socket.refuse();
            return;
        }
        socket.kernel.note(
                "arrived "
                        + segment.length
                        + TraceRecorder.nameOf(segment, 0, segment.length)
                        + " at "
                        + socket);
        inbox.add(segment);
        receivedPosition += segment.length;
        if (from != null) {
            line(from, () -> from.flow.confirmed(segment.length));
        }
        socket.wake(SimulatedSocket.READABLE_KEY);
    }

    /// Stores the urgent byte. Only one exists at a time: an older one that would be read next is
    /// dropped, and one further back becomes an ordinary byte.
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

    /// Schedules an event at the other end.
    void toPeer(Consumer<TcpSocket> arrival) {
        TcpSocket other = peer;
        if (other != null) {
            line(other, () -> arrival.accept(other));
        }
    }

    /// Schedules an event at a socket that is not or no longer the peer.
    void line(TcpSocket other, Runnable arrival) {
        assert other != socket : "a line connects two sockets";
        socket.kernel.network.carry(line, arrival);
    }

    /// Schedules an event from an absent host at this end.
    void back(Runnable arrival) {
        socket.kernel.network.carry(new Network.Line(), arrival);
    }
}
