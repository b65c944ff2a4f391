package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;

/// Handles a half-close: the client has ended its side and may still wait for responses.
///
/// Loop thread only.
final class HalfClose {
    private final HttpConnection connection;
    private boolean received;

    /// Whether the client has ended its side behind requests that are not read yet.
    private boolean pending;

    HalfClose(HttpConnection connection) {
        this.connection = connection;
    }

    /// Whether the client has ended its side, and all it sent was read.
    boolean isReceived() {
        return received;
    }

    /// All input was read, and no more comes.
    void receive() {
        received = true;
        Exchange open = connection.open();
        if (open == null) {
            close();
            return;
        }
        RequestBody body = open.body();
        if (body != null && !body.isEnded()) {
            body.fail(new HttpException(400, "the connection ended before the content did"));
            if (open.response.isWhole() && !open.response.isComplete()) {
                connection.closeBehindResponse(); // A part of it waits to be taken.
            } else {
                close();
            }
        } else {
            notifyExchange(open);
        }
    }

    /// The client has ended its side behind pipelined requests: as [#receive] for the request in
    /// progress, and the pipelined ones are served before the connection closes.
    void receivePending() {
        pending = true;
        notifyIfPending();
    }

    /// Notifies the request in progress of an end behind requests that are not read yet.
    void notifyIfPending() {
        Exchange open = pending ? connection.open() : null;
        RequestBody body = open == null ? null : open.body();
        // Otherwise the rest of the body may be what is unread.
        if (open != null && (body == null || body.isEnded())) {
            notifyExchange(open);
        }
    }

    private void notifyExchange(Exchange exchange) {
        if (connection.isEventStream()) {
            connection.stream().close(); // A client that reads events ends its side only to leave.
        } else {
            exchange.peerEnded();
        }
    }

    private void close() {
        connection.stream().close(connection.pace.closeReason());
    }
}
