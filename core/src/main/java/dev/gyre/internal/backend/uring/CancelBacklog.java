package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.Linux;

/// In which form a flight goes into the ring: as the operation itself, once or multishot, or as a poll
/// before it.
///
/// Loop thread only.
final class CancelBacklog {
    private final InFlightTable flights;
    private final ProvidedBufferRing bufferRing;

    private final KernelFeatures repertoire;

    CancelBacklog(InFlightTable flights, ProvidedBufferRing bufferRing, KernelFeatures repertoire) {
        this.flights = flights;
        this.bufferRing = bufferRing;
        this.repertoire = repertoire;
    }

    /// Writes it into the ring.
    ///
    /// @return false if the ring has no room at present
    boolean write(Ring ring, SqeWriter entries, InFlightOp flight) {
        Request request = flight.request();
        long token = flights.nextToken(flight);
        if (request.opcode == Opcode.RECEIVE) {
            bufferRing.register(ring); // First: whether it is refused decides what follows.
        }
        boolean poll = flight.pollFirst || repertoire.isPerformed(request);
        boolean written =
                poll
                        ? entries.poll(token, request.fd, pollBits(request.opcode.kind), 0)
                        : entries.operation(token, request, isMultishot(flight));
        if (written) {
            flight.polling = poll;
            flight.pollFirst = false;
            flights.toKernel(flight, token);
        }
        return written;
    }

    /// Whether the kernel is to go on with it by itself.
    boolean isMultishot(InFlightOp flight) {
        Request request = flight.request();
        return request.multishot
                && !flight.singly
                && repertoire.hasMultishot(request.opcode)
                && (request.opcode == Opcode.ACCEPT
                        ? request.address == 0
                        : flight.drained
                                && !Flying.isBehindUrgent(request)
                                && SqeWriter.isOfSocket(request));
    }

    private static int pollBits(Kind kind) {
        return switch (kind) {
            case URGENT -> Linux.EPOLLPRI;
            case READ -> Linux.EPOLLIN;
            case WRITE -> Linux.EPOLLOUT;
            case END -> Linux.EPOLLRDHUP;
            case FILE -> throw new AssertionError("files are not polled");
        };
    }
}
