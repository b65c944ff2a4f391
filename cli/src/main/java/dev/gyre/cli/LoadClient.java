package dev.gyre.cli;

import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

/// One connection of [LoadClients], with at most one message in flight.
///
/// Loop thread only.
abstract sealed class LoadClient implements Protocol permits EchoLoadClient, HttpLoadClient {
    private final LoadClients clients;
    private @Nullable Stream stream;

    /// The receiver of the result; `null` while no message is in flight.
    private @Nullable LoadGenerator load;

    private long dueNanos;

    LoadClient(LoadClients clients) {
        this.clients = clients;
    }

    LoadClients clients() {
        return clients;
    }

    void attach(Stream stream) {
        this.stream = stream;
        stream.protocol(this);
    }

    /// Sends the next message, unless the previous one is still in flight.
    ///
    /// @param dueNanos the scheduled time of the message
    /// @return whether it was sent
    boolean send(LoadGenerator load, long dueNanos) {
        Stream to = stream;
        if (this.load != null || to == null || !to.isOpen()) {
            return false;
        }
        this.load = load;
        this.dueNanos = dueNanos;
        writeTo(to);
        return true;
    }

    abstract void writeTo(Stream to);

    /// Returns the length of the response; a larger value than available if it is incomplete.
    abstract int responseBytes(Buffer data);

    /// Consumes a complete response and returns whether it is the expected one.
    abstract boolean isValid(Buffer data);

    @Override
    public void onData(Stream stream, Buffer data) {
        LoadGenerator waiting = load;
        if (waiting == null) {
            stream.abort(); // Unsolicited data.
        } else if (data.readable() >= responseBytes(data)) {
            load = null;
            boolean valid = isValid(data);
            data.skip(data.readable());
            waiting.onResponse(dueNanos, valid);
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        this.stream = null;
        clients.lost(reason);
    }

    void disconnect() {
        if (stream != null) {
            stream.abort();
        }
    }
}
