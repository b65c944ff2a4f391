package dev.gyre.http.internal.websocket;

import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

/// How a connection was lost, in words for whoever is told of 1006. The peer never sees them.
final class Loss {
    static final String ENDED = "the peer ended the connection without a close frame";
    static final String CLOSE_UNANSWERED = "the peer did not answer the close frame in time";
    static final String NO_SIGN_OF_LIFE = "the peer did not answer a ping in time";

    private Loss() {}

    static String of(Stream stream) {
        CloseReason reason = stream.closeReason();
        if (reason == null) {
            return "the loop is ending";
        }
        Throwable failure = stream.failure();
        // Of a reset there is no more to know: the system calls it by its number.
        return failure == null || failure.getMessage() == null || reason == CloseReason.RESET
                ? words(reason)
                : words(reason) + ": " + failure.getMessage();
    }

    private static String words(CloseReason reason) {
        return switch (reason) {
            case ENDED, CLOSED -> "the connection was closed without a close frame";
            case ABORTED -> "the connection was cut off here";
            case RESET -> "the peer reset the connection, or is gone";
            case FAILED -> "the connection failed";
            case IDLE_TIMEOUT -> "nothing was received or sent for too long";
            case READ_TIMEOUT -> "nothing was received for too long";
            case WRITE_TIMEOUT -> "the peer took too little of what was sent, for too long";
            case HEADER_TIMEOUT, BODY_TIMEOUT -> "the peer took too long to send a message";
            case LINGER_TIMEOUT -> "the peer did not take the last that was sent in time";
            case HANDSHAKE_TIMEOUT -> "the TLS handshake took too long";
            case OUTPUT_LIMIT -> "more waited to be sent than StreamConfig.outputLimit allows";
            case INPUT_LIMIT -> "more was left unread than StreamConfig.inputLimit allows";
            case MEMORY_LIMIT -> "the loop's memory for buffers is used up";
            case TLS_FAILED -> "TLS failed";
            case HANDLER_FAILED -> "a callback failed";
            case LOOP_ENDED -> "the loop has ended";
        };
    }

    /// Unlike the other losses it is the fault of who sends here, and nobody may have asked why.
    static void warnOfOutputLimit(LoopSocket socket) {
        System.getLogger("dev.gyre.http")
                .log(
                        System.Logger.Level.WARNING,
                        socket
                                + " was closed: "
                                + words(CloseReason.OUTPUT_LIMIT)
                                + ". Where send says false, go on in onWritable, or let the rest be"
                                + " dropped (WebSocketConfig.withWhenSlow). Of other sockets of"
                                + " this loop that is not logged again");
    }
}
