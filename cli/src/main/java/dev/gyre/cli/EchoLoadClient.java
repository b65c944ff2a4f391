package dev.gyre.cli;

import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

/// Sends messages to an echo server. Each starts with the client's index and a sequence number,
/// which reveals echoes that are duplicated or sent to another client.
///
/// Loop thread only.
final class EchoLoadClient extends LoadClient {
    static final int MESSAGE_BYTES = 64;

    private static final byte[] PADDING = new byte[MESSAGE_BYTES - Long.BYTES];

    private final int index;
    private int messages;

    EchoLoadClient(int index, LoadClients clients) {
        super(clients);
        this.index = index;
    }

    @Override
    void writeTo(Stream to) {
        messages++;
        boolean _ = to.write(clients().message().putLong(mark()).put(PADDING));
    }

    private long mark() {
        return (long) index << 32 | messages;
    }

    @Override
    int responseBytes(Buffer data) {
        return MESSAGE_BYTES;
    }

    @Override
    boolean isValid(Buffer data) {
        return data.getLong() == mark() && data.readable() == PADDING.length;
    }
}
