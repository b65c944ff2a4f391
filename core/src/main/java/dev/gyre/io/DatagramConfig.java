package dev.gyre.io;

/// How a [Datagram] is set up. Immutable: each `with` method returns another one.
///
/// ```java
/// var config = DatagramConfig.DEFAULT.withBroadcast(true).withQueue(64, 1 << 16);
/// ```
///
/// @param largestMessage how many bytes of a message are received; what is longer is cut. The loop has one buffer of that
///     size for all its datagram sockets together. At first 65 536, which no message of UDP exceeds
/// @param queuedMessages how many messages may wait to be sent, before further ones are dropped. At first 1 024
/// @param queuedBytes how many bytes of them. At first 1 MiB
/// @param receiveBufferBytes what the kernel keeps of messages that are not read yet, before it drops further ones; zero,
///     as at first, for the system's choice
/// @param sendBufferBytes what the kernel takes of messages that are not sent yet; the same
/// @param reusePort whether several may be bound to one address and share what arrives. At first not
/// @param broadcast whether it may send to broadcast addresses. At first not
public record DatagramConfig(
        int largestMessage,
        int queuedMessages,
        int queuedBytes,
        int receiveBufferBytes,
        int sendBufferBytes,
        boolean reusePort,
        boolean broadcast) {
    private static final int MOST_MESSAGE_BYTES = 1 << 24;

    /// So that doubling it, as Linux does, overflows nothing.
    private static final int MOST_BUFFER_BYTES = 1 << 29;

    /// The usual settings.
    public static final DatagramConfig DEFAULT =
            new DatagramConfig(1 << 16, 1 << 10, 1 << 20, 0, 0, false, false);

    /// Checks the values.
    ///
    /// @throws IllegalArgumentException for one that is out of range
    public DatagramConfig {
        requireWithin("largestMessage", largestMessage, 1, MOST_MESSAGE_BYTES);
        requireWithin("queuedMessages", queuedMessages, 1, MOST_MESSAGE_BYTES);
        requireWithin("queuedBytes", queuedBytes, 1, MOST_BUFFER_BYTES);
        requireWithin("receiveBufferBytes", receiveBufferBytes, 0, MOST_BUFFER_BYTES);
        requireWithin("sendBufferBytes", sendBufferBytes, 0, MOST_BUFFER_BYTES);
    }

    private static void requireWithin(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    what + " must be from " + least + " to " + most + ", but is " + value);
        }
    }

    /// The same, receiving so many bytes of a message.
    public DatagramConfig withMaxMessageBytes(int bytes) {
        return new DatagramConfig(
                bytes,
                queuedMessages,
                queuedBytes,
                receiveBufferBytes,
                sendBufferBytes,
                reusePort,
                broadcast);
    }

    /// The same, with so many messages and bytes waiting to be sent at most.
    public DatagramConfig withMaxQueued(int messages, int bytes) {
        return new DatagramConfig(
                largestMessage,
                messages,
                bytes,
                receiveBufferBytes,
                sendBufferBytes,
                reusePort,
                broadcast);
    }

    /// The same, with these buffers in the kernel.
    public DatagramConfig withBuffers(int receiveBytes, int sendBytes) {
        return new DatagramConfig(
                largestMessage,
                queuedMessages,
                queuedBytes,
                receiveBytes,
                sendBytes,
                reusePort,
                broadcast);
    }

    /// The same, sharing its address or not.
    public DatagramConfig withReusePort(boolean on) {
        return new DatagramConfig(
                largestMessage,
                queuedMessages,
                queuedBytes,
                receiveBufferBytes,
                sendBufferBytes,
                on,
                broadcast);
    }

    /// The same, with broadcasts or without.
    public DatagramConfig withBroadcast(boolean on) {
        return new DatagramConfig(
                largestMessage,
                queuedMessages,
                queuedBytes,
                receiveBufferBytes,
                sendBufferBytes,
                reusePort,
                on);
    }
}
