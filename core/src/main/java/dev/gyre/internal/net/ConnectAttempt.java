package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.SocketHints;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;

import java.net.SocketAddress;
import java.util.function.ObjLongConsumer;

/// One socket on its way to one address. Whoever began it is told once how it went, later, and has the socket from
/// the beginning.
///
/// Loop thread only.
final class ConnectAttempt {
    final SocketAddress to;
    final OpenDescriptor socket;
    private final Operation operation;

    /// Begins it.
    ///
    /// @param ended told the result: zero, or `-errno`
    /// @throws SystemCallException if there is no socket to be had; nothing is open then
    ConnectAttempt(
            EventLoop loop,
            Syscalls seam,
            SocketSettings options,
            SocketAddress to,
            ObjLongConsumer<ConnectAttempt> ended) {
        this.to = to;
        socket = open(seam, options, to);
        try {
            operation =
                    Operations.on(loop)
                            .connect(
                                    socket,
                                    to,
                                    done -> {
                                        long result = done.result();
                                        done.release();
                                        ended.accept(this, result);
                                    });
            operation.start();
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static OpenDescriptor open(Syscalls seam, SocketSettings options, SocketAddress to) {
        try {
            return options.stream(seam, to);
        } catch (SystemCallException e) {
            SystemCallException told =
                    new SystemCallException(
                            e.call(),
                            e.errno(),
                            "cannot connect to " + to + ", for want of a socket",
                            SocketHints.connect(to, e.errno()));
            told.initCause(e);
            throw told;
        }
    }

    /// Asks for an early end. It is told all the same.
    void cancel() {
        operation.cancel();
    }

    /// Why it failed, in words for whoever wanted to get there.
    static SystemCallException failure(SocketAddress to, int errno) {
        return new SystemCallException(
                "connect", errno, "cannot connect to " + to, SocketHints.connect(to, errno));
    }
}
