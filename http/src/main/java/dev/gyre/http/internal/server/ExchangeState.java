package dev.gyre.http.internal.server;

/// The state of a connection and of the exchange that it serves. [HttpConnection] owns it.
///
/// ```
///     IDLE ────▶ READING_HEAD ────▶ HANDLING ─────▶ FAILING
///      ▲ └──────── whole head ────────▲ │ │           │ │
///      │                                │ └─────┬─────┘ │
///      │                 whole response │       ▼ head  │ whole response
///      │                                │  RESPONDING ──┼─ 101 ─▶ UPGRADED
///      │                                │       │ end   │
///      │                                └──▶ RESPONDED ◀┘
///      └───── handler returned, body consumed ──┘
///
///     every state but UPGRADED ──▶ CLOSING ──▶ CLOSED ◀── every state
/// ```
///
/// An exchange that is in progress when its connection enters CLOSING or CLOSED is lost: its
/// handler runs on, and the response is discarded. An exchange that has ended has no connection,
/// and thus no state.
enum ExchangeState {
    /// Waits for a request, of which nothing has arrived.
    IDLE,
    /// A part of a head has arrived, or requests that wait until the client reads its responses.
    READING_HEAD,
    /// A handler has the request. Nothing of the response is sent.
    HANDLING,
    /// The handler failed. An error response is being produced.
    FAILING,
    /// The head of the response is sent, and its body is not complete.
    RESPONDING,
    /// The response is complete. The rest of the request body is read and dropped.
    RESPONDED,
    /// Another protocol owns the stream.
    UPGRADED,
    /// Closed by the server, or by the stream. Pending output is sent if possible.
    CLOSING,
    /// The stream is closed.
    CLOSED;

    /// Returns the next state.
    ///
    /// @throws IllegalStateException if the drawing has no such transition
    ExchangeState to(ExchangeState next) {
        if (!leadsTo(next)) {
            throw new IllegalStateException("no transition from " + this + " to " + next);
        }
        return next;
    }

    /// Compares instead of switching: callers pass a constant, so the JIT compiler removes all
    /// other branches.
    private boolean leadsTo(ExchangeState next) {
        return (next == IDLE && this == RESPONDED)
                || (next == READING_HEAD && this == IDLE)
                || (next == HANDLING && (this == IDLE || this == READING_HEAD))
                || (next == FAILING && this == HANDLING)
                || (next == RESPONDING && isUncommitted())
                || (next == RESPONDED && isInProgress())
                || (next == UPGRADED && this == RESPONDING)
                || (next == CLOSING && this != UPGRADED && !isClosed())
                || (next == CLOSED && this != CLOSED);
    }

    /// Returns whether nothing of the response is sent yet.
    boolean isUncommitted() {
        return this == HANDLING || this == FAILING;
    }

    /// Returns whether a response is being prepared or sent.
    boolean isInProgress() {
        return isUncommitted() || this == RESPONDING;
    }

    /// Returns whether the stream is closed or closing.
    boolean isClosed() {
        return this == CLOSING || this == CLOSED;
    }
}
