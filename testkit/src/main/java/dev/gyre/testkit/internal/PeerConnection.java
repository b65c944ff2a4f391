package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Inet;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;

/// A connection of a peer outside the loop, with a kernel and a patience of its own: it reads whatever comes, unless
/// told not to, and writes whatever it is given as soon as there is room.
///
/// Guarded by the kernel's lock.
public final class PeerConnection {
    private static final int MOST_BYTES = 1 << 26;
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

    /// Begins to connect, from an address that no one else has.
    ///
    /// @param host the address in hexadecimal
    public static PeerConnection connect(SimulatedKernel kernel, String host, int port) {
        synchronized (kernel) {
            TcpSocket socket = new TcpSocket(kernel, Linux.AF_INET, Linux.O_NONBLOCK);
            long serial = kernel.nextSerial();
            // Of the range that is kept for documentation.
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

    // ------------------------------------------------------------------ what a script does

    public void send(byte[] bytes) {
        synchronized (kernel) {
            requireSending();
            if (unsent.size() + bytes.length > MOST_BYTES) {
                throw kernel.failure(
                        "a peer has " + unsent.size() + " bytes to send that nobody takes");
            }
            unsent.add(bytes.clone());
            pumpSoon();
        }
    }

    private void requireSending() {
        if (wantsHalfClose || wantsClose || closed) {
            throw new IllegalStateException("the peer has ended its output already");
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

    /// Whether to read what comes.
    public void reading(boolean wanted) {
        synchronized (kernel) {
            reading = wanted;
            pumpSoon();
        }
    }

    /// What to call when something came or ended, outside the kernel.
    public void onChange(Runnable action) {
        synchronized (kernel) {
            onChange = action;
            if (received.size() > 0 || ended || failure != 0) {
                kernel.agenda.outsideAfter(0, action);
            }
        }
    }

    // ------------------------------------------------------------------ what a script asks

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

    /// The other side sends no more.
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

    /// The error number that ended it, or zero.
    public int failure() {
        synchronized (kernel) {
            return failure;
        }
    }

    /// The bytes of its own address.
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

    // ------------------------------------------------------------------ moving

    private void pumpSoon() {
        if (!pumping && !closed) {
            pumping = true;
            kernel.agenda.after(0, this::pump);
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
            kernel.agenda.outsideAfter(0, onChange);
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
                if (received.size() + result > MOST_BYTES) {
                    throw kernel.failure("a peer has received more than " + MOST_BYTES + " bytes");
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
                boolean _ = socket.flow.isWritable(); // Asking is what makes it tell.
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
