package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.Linux;

/// In which form a flight goes into the ring: as the operation itself, once or multishot, or as a poll
/// before it.
///
/// Loop thread only.
final class Departures {
    /// The stage of a CONNECT that the kernel has begun, as
    /// [Performer][dev.gyre.internal.backend.Performer] has it.
    static final int CONNECTING = 1;

    private final Flights flights;
    private final BufferRing bufferRing;

    // What this kernel was not seen to lack: multishots came with 5.19 and 6.0.
    private boolean acceptsMultishot = true;
    private boolean receivesMultishot = true;

    Departures(Flights flights, BufferRing bufferRing) {
        this.flights = flights;
        this.bufferRing = bufferRing;
    }

    /// Writes it into the ring.
    ///
    /// @return false if the ring has no room at present
    boolean write(Ring ring, Entries entries, Flight flight) {
        Request request = flight.request();
        long token = flights.nextToken(flight);
        boolean poll =
                flight.pollFirst
                        || isPerformed(request)
                        || (request.opcode == Opcode.RECEIVE && !bufferRing.isRegistered(ring));
        boolean written =
                poll
                        ? entries.poll(token, request.fd, pollBits(request.opcode.kind), 0)
                        : entries.operation(token, request, isMultishot(request));
        if (written) {
            flight.polling = poll;
            flight.pollFirst = false;
            flights.toKernel(flight, token);
        }
        return written;
    }

    boolean isMultishot(Request request) {
        return request.multishot
                && switch (request.opcode) {
                    case ACCEPT -> acceptsMultishot && request.address == 0;
                    case RECEIVE -> receivesMultishot && Entries.isOfSocket(request);
                    default -> false;
                };
    }

    /// From now on each is asked for by itself.
    void withoutMultishot(Opcode opcode) {
        if (opcode == Opcode.ACCEPT) {
            acceptsMultishot = false;
        } else {
            receivesMultishot = false;
        }
    }

    /// Whether the ring has no such operation.
    static boolean isPerformed(Request request) {
        return switch (request.opcode) {
            case READ_URGENT, SEND_FILE, SPLICE_FROM, SPLICE_TO -> true;
            case CONNECT -> request.stage == CONNECTING;
            default -> false;
        };
    }

    private static int pollBits(Kind kind) {
        return switch (kind) {
            case EXCEPT -> Linux.EPOLLPRI;
            case READ -> Linux.EPOLLIN;
            case WRITE -> Linux.EPOLLOUT;
            case FILE -> throw new AssertionError("files are not polled");
        };
    }
}
