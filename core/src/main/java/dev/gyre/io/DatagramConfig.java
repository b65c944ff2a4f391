package dev.gyre.io;

import dev.gyre.internal.base.Checks;

import java.util.function.Consumer;

/// Configures a [Datagram]. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = DatagramConfig.DEFAULT.withBroadcast(true).withMaxQueued(64, 1 << 16);
/// ```
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null.
///
/// **Threads.** Any.
public final class DatagramConfig implements Cloneable {
    /// The default configuration.
    public static final DatagramConfig DEFAULT = new DatagramConfig();

    private static final int MAX_MESSAGE_BYTES = 1 << 24;

    /// Linux doubles the sizes of kernel buffers: the result must fit into an int.
    private static final int MAX_BUFFER_BYTES = 1 << 29;

    private int maxMessageBytes = 1 << 16;
    private int maxQueuedMessages = 1 << 10;
    private int maxQueuedBytes = 1 << 20;
    private int receiveBufferBytes;
    private int sendBufferBytes;
    private boolean reusePort;
    private boolean broadcast;

    private DatagramConfig() {}

    /// Returns the maximum of bytes received of a message. Longer messages are truncated. All
    /// datagram sockets of a loop share one buffer of that size. Default 65 536, which no UDP
    /// message exceeds.
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /// Returns the maximum of messages queued to be sent. Further messages are dropped. Default
    /// 1 024.
    public int maxQueuedMessages() {
        return maxQueuedMessages;
    }

    /// Returns the maximum of bytes queued to be sent. Further messages are dropped. Default 1 MiB.
    public int maxQueuedBytes() {
        return maxQueuedBytes;
    }

    /// Returns the size of the kernel's buffer for unread messages; zero for the system's default.
    /// Default zero.
    public int receiveBufferBytes() {
        return receiveBufferBytes;
    }

    /// Returns the size of the kernel's buffer for unsent messages; zero for the system's default.
    /// Default zero.
    public int sendBufferBytes() {
        return sendBufferBytes;
    }

    /// Returns whether several sockets may bind one address and share its messages. Default false.
    public boolean reusePort() {
        return reusePort;
    }

    /// Returns whether the socket may send to broadcast addresses. Default false.
    public boolean broadcast() {
        return broadcast;
    }

    /// Returns a copy with this [#maxMessageBytes()], from 1 to 16 MiB.
    public DatagramConfig withMaxMessageBytes(int bytes) {
        Checks.range("maxMessageBytes", bytes, 1, MAX_MESSAGE_BYTES);
        return with(copy -> copy.maxMessageBytes = bytes);
    }

    /// Returns a copy with these [#maxQueuedMessages()], from 1 to 16 777 216, and
    /// [#maxQueuedBytes()], from 1 to 512 MiB.
    public DatagramConfig withMaxQueued(int messages, int bytes) {
        Checks.range("maxQueuedMessages", messages, 1, 1 << 24);
        Checks.range("maxQueuedBytes", bytes, 1, MAX_BUFFER_BYTES);
        return with(
                copy -> {
                    copy.maxQueuedMessages = messages;
                    copy.maxQueuedBytes = bytes;
                });
    }

    /// Returns a copy with these [#receiveBufferBytes()] and [#sendBufferBytes()], from 0 to 512
    /// MiB each.
    public DatagramConfig withBuffers(int receiveBytes, int sendBytes) {
        Checks.range("receiveBufferBytes", receiveBytes, 0, MAX_BUFFER_BYTES);
        Checks.range("sendBufferBytes", sendBytes, 0, MAX_BUFFER_BYTES);
        return with(
                copy -> {
                    copy.receiveBufferBytes = receiveBytes;
                    copy.sendBufferBytes = sendBytes;
                });
    }

    /// Returns a copy with this [#reusePort()].
    public DatagramConfig withReusePort(boolean on) {
        return with(copy -> copy.reusePort = on);
    }

    /// Returns a copy with this [#broadcast()].
    public DatagramConfig withBroadcast(boolean on) {
        return with(copy -> copy.broadcast = on);
    }

    private DatagramConfig with(Consumer<DatagramConfig> change) {
        try {
            DatagramConfig copy = (DatagramConfig) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("DatagramConfig is Cloneable", e);
        }
    }
}
