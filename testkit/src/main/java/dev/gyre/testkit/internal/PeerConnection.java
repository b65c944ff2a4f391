package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Inet;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;

/// The connection of a peer outside the loop. It reads all input unless paused, and writes its
/// output as soon as there is space.
///
/// Guarded by the kernel's lock.
public final class PeerConnection {
    private static final int MAX_BYTES = 1 << 26;
    private static final int CHUNK_BYTES = 1 << 14;

    private final SimulatedKernel kernel;
    private final TcpSocket socket;
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private final ByteQueue unsent = new ByteQueue();
    private final byte[] chunk = new byte[CHUNK_BYTES];
    private boolean pumping;
    private boolean reading = true;
    private boolean wantsHalfClose;
    private boolean halfClosed;
    private boolean wantsClose;
    private boolean closed;
    private boolean ended;
    private int failure;
    private @Nullable Runnable onChange;

    private PeerConnection(SimulatedKernel kernel, TcpSocket socket) {
        this.kernel = kernel;
        this.socket = socket;
        socket.onWake = this::pumpSoon;
        pumpSoon();
    }

    /// Connects from a unique address.
    ///
    /// @param host the address in hexadecimal
    public static PeerConnection connect(SimulatedKernel kernel, String host, int port) {
        synchronized (kernel) {
            TcpSocket socket = new TcpSocket(kernel, Linux.AF_INET, Linux.O_NONBLOCK);
            long serial = kernel.nextSerial();
            // The range reserved for documentation.
            String own = "c00002" + String.format("%02x", 1 + serial % 254);
            Inet from = new Inet(own, 1_024 + (int) (serial / 254 % 60_000));
            kernel.note("peer " + from + " connects to " + port);
            socket.connectFrom(from, new Inet(host, port));
            return new PeerConnection(kernel, socket);
        }
    }

    static PeerConnection accepted(SimulatedKernel kernel, TcpSocket socket) {
        return new PeerConnection(kernel, socket);
    }

    // ------------------------------------------------------------------ actions

    public void send(byte[] bytes) {
        synchronized (kernel) {
            requireSending();
            if (unsent.size() + bytes.length > MAX_BYTES) {
                throw kernel.failure(
                        "a peer has "
                                + unsent.size()
                                + " unsent bytes: the loop does not read them");
            }
            unsent.add(bytes.clone());
            pumpSoon();
        }
    }

    private void requireSending() {
        if (wantsHalfClose || wantsClose || closed) {
            throw new IllegalStateException(
                    "the peer has already ended its output: send before halfClose and close");
        }
    }

    public void halfClose() {
        synchronized (kernel) {
            wantsHalfClose = true;
            pumpSoon();
        }
    }

    public void close() {
        synchronized (kernel) {
            wantsClose = true;
            pumpSoon();
        }
    }

    public void reset() {
        synchronized (kernel) {
            if (!closed) {
                closed = true;
                kernel.note("peer resets " + socket);
                socket.onWake = null;
                socket.abort();
            }
        }
    }

    /// Pauses or resumes reading.
    public void reading(boolean wanted) {
        synchronized (kernel) {
            reading = wanted;
            pumpSoon();
        }
    }

    /// Sets the callback for input and the end of the connection. It runs outside the kernel's
    /// lock.
    public void onChange(Runnable action) {
        synchronized (kernel) {
            onChange = action;
            if (received.size() > 0 || ended || failure != 0) {
                kernel.schedule.outsideAfter(0, action);
            }
        }
    }

    // ------------------------------------------------------------------ queries

    public byte[] received() {
        synchronized (kernel) {
            return received.toByteArray();
        }
    }

    public byte[] takeReceived() {
        synchronized (kernel) {
            byte[] bytes = received.toByteArray();
            received.reset();
            return bytes;
        }
    }

    public int unsentBytes() {
        synchronized (kernel) {
            return unsent.size();
        }
    }

    public boolean isConnecting() {
        synchronized (kernel) {
            return socket.isConnecting();
        }
    }

    /// Returns whether the other end has ended its output.
    public boolean isEnded() {
        synchronized (kernel) {
            return ended;
        }
    }

    public boolean isClosedHere() {
        synchronized (kernel) {
            return closed || wantsClose;
        }
    }

    /// Returns the errno of the failed connection, or zero.
    public int failure() {
        synchronized (kernel) {
            return failure;
        }
    }

    /// Returns the bytes of the peer's address.
    public byte[] host() {
        synchronized (kernel) {
            return socket.local() instanceof Inet own
                    ? HexFormat.of().parseHex(own.host())
                    : new byte[4];
        }
    }

    public int port() {
        synchronized (kernel) {
            return socket.local() instanceof Inet own ? own.port() : 0;
        }
    }

    @Override
    public String toString() {
        synchronized (kernel) {
            return socket.toString();
        }
    }

    // ------------------------------------------------------------------ transfers

    private void pumpSoon() {
        if (!pumping && !closed) {
            pumping = true;
            kernel.schedule.after(0, this::pump);
        }
    }

    private void pump() {
        pumping = false;
        if (closed || socket.isConnecting()) {
            return;
        }
        boolean changed = reading && readAll();
        changed |= writeAll();
        if (unsent.isEmpty() && wantsHalfClose && !halfClosed) {
            halfClosed = true;
            kernel.note("peer ends its output " + socket);
            socket.shutdown(Linux.SHUT_WR);
        }
        if (unsent.isEmpty() && wantsClose) {
            closed = true;
            kernel.note("peer closes " + socket);
            socket.onWake = null;
            socket.closed();
        }
        if (changed && onChange != null) {
            kernel.schedule.outsideAfter(0, onChange);
        }
    }

    private boolean readAll() {
        boolean any = false;
        while (!ended && failure == 0) {
            long result = socket.receive(chunk, chunk.length, 0, new SimulatedSocket.Message());
            if (result == -Errno.EAGAIN) {
                return any;
            }
            any = true;
            if (result > 0) {
                if (received.size() + result > MAX_BYTES) {
                    throw kernel.failure("a peer has received more than " + MAX_BYTES + " bytes");
                }
                received.write(chunk, 0, (int) result);
            } else if (result == 0) {
                ended = true;
            } else {
                failed((int) -result);
            }
        }
        return any;
    }

    private boolean writeAll() {
        while (!unsent.isEmpty() && failure == 0) {
            int room = socket.room();
            if (room == 0) {
                boolean _ = socket.flow.isWritable(); // Requests a notification.
                return false;
            }
            int length = Math.min(Math.min(unsent.size(), CHUNK_BYTES), Math.max(1, room));
            byte[] bytes = unsent.take(length);
            long result = socket.send(bytes, length, 0, null);
            if (result < 0) {
                failed((int) -result);
                return true;
            }
        }
        return false;
    }

    private void failed(int errno) {
        failure = errno;
        unsent.clear();
    }
}
