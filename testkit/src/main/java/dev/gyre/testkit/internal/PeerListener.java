package dev.gyre.testkit.internal;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Inet;

import java.util.function.Consumer;

/// A listener outside the loop. It accepts every connection.
///
/// Guarded by the kernel's lock.
public final class PeerListener {
    private static final int BACKLOG = 128;

    private final SimulatedKernel kernel;
    private final TcpSocket socket;
    private final Consumer<PeerConnection> accepted;
    private boolean closed;

    private PeerListener(
            SimulatedKernel kernel, TcpSocket socket, Consumer<PeerConnection> accepted) {
        this.kernel = kernel;
        this.socket = socket;
        this.accepted = accepted;
    }

    /// Starts to listen.
    ///
    /// @param accepted receives each connection, with the lock held
    /// @throws SystemCallException if the port is in use
    public static PeerListener open(
            SimulatedKernel kernel, int port, Consumer<PeerConnection> accepted) {
        synchronized (kernel) {
            TcpSocket socket = new TcpSocket(kernel, Linux.AF_INET6, Linux.O_NONBLOCK);
            int result = socket.bind(new Inet(Inet.ANY6, port));
            if (result == 0) {
                result = socket.listen(BACKLOG);
            }
            if (result < 0) {
                throw new SystemCallException("bind", -result, SystemCallException.NO_FD);
            }
            kernel.note("peer listens at " + port);
            PeerListener listener = new PeerListener(kernel, socket, accepted);
            socket.onWake = () -> kernel.schedule.after(0, listener::acceptAll);
            return listener;
        }
    }

    private void acceptAll() {
        while (!closed && socket.accept() instanceof TcpSocket accepting) {
            accepted.accept(PeerConnection.accepted(kernel, accepting));
        }
    }

    /// Refuses further connections.
    public void close() {
        synchronized (kernel) {
            if (!closed) {
                closed = true;
                socket.onWake = null;
                socket.closed();
            }
        }
    }
}
