package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.io.DatagramIo;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.io.Buffer;
import dev.gyre.io.Datagram;
import dev.gyre.io.DatagramConfig;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// A datagram socket on readiness events. An operation would hold a buffer while it waits, and a
/// message can have 64 KiB.
///
/// Loop thread only, except the counters.
public final class LoopDatagram implements Datagram {
    /// How many messages to receive or send before other sockets are served.
    private static final int MAX_BATCH = 64;

    /// The retry interval for an unconnected Unix socket: the kernel does not report room in the
    /// queue of another socket.
    private static final Duration RETRY_DELAY = Duration.ofMillis(1);

    private final Loop loop;
    private final int family;
    private final int maxMessageBytes;
    private final OpenDescriptor socket;
    private final DatagramIo exchange;
    private final DatagramSendQueue sendQueue;
    private final SocketAddress address;

    private final WatchSpec reading = WatchSpec.reading(watcher -> receive());
    private final WatchSpec writing = WatchSpec.writing(watcher -> flush());
    private final WatchSpec both = reading.onWrite(watcher -> flush());

    // Shared: written by the loop thread, read by any.
    private final Counter received = new Counter();
    private final Counter truncated = new Counter();
    private final Counter failed = new Counter();

    // Loop thread only.
    private @Nullable BiConsumer<? super Buffer, ? super SocketAddress> onMessage;
    private @Nullable Consumer<? super SystemCallException> onError;
    private @Nullable Runnable onClose;
    private @Nullable SocketAddress peer;
    private @Nullable Watcher watcher;
    private WatchSpec watched = WatchSpec.nothing();
    private @Nullable Timer retry;
    private boolean paused;
    private boolean messageTruncated;
    private boolean closed;

    private LoopDatagram(
            Loop loop, SocketAddress wanted, DatagramConfig config, OpenDescriptor socket) {
        this.loop = loop;
        this.socket = socket;
        family = SocketAddresses.family(wanted);
        maxMessageBytes = config.maxMessageBytes();
        address = NativeSockets.localAddress(loop.operations().syscalls(), socket);
        exchange = exchangeOf(loop);
        sendQueue =
                new DatagramSendQueue(
                        exchange, socket, family, loop.operations().pool(), config, this::failed);
    }

    public static LoopDatagram bind(
            EventLoop eventLoop, SocketAddress address, DatagramConfig config) {
        Loop loop = Loop.of(eventLoop);
        loop.requireOpenWithStack("bind");
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(config, "config");
        SocketAddresses.requireEncodable(address);
        OpenDescriptor socket =
                SocketSettings.datagram(loop.operations().syscalls(), address, config);
        try {
            LoopDatagram datagram = new LoopDatagram(loop, address, config, socket);
            loop.own(datagram);
            return datagram;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static DatagramIo exchangeOf(Loop loop) {
        DatagramIo known = loop.owned(DatagramIo.class);
        if (known == null) {
            known = new DatagramIo(loop.operations().syscalls());
            loop.own(known);
        }
        return known;
    }

    @Override
    public Datagram connect(SocketAddress to) {
        requireOpen("connect");
        Objects.requireNonNull(to, "peer");
        int result = exchange.connect(socket, family, to);
        if (result < 0) {
            throw SocketConnector.failure(to, -result);
        }
        peer = to;
        return this;
    }

    @Override
    public Datagram onMessage(BiConsumer<? super Buffer, ? super SocketAddress> callback) {
        requireOpen("onMessage");
        onMessage = Objects.requireNonNull(callback, "callback");
        updateWatcher();
        return this;
    }

    private void receive() {
        for (int i = 0; i < MAX_BATCH && wantsMessages(); i++) {
            int length = exchange.receive(socket, maxMessageBytes);
            if (length == -Errno.EAGAIN) {
                return;
            }
            if (length < 0) {
                failed(new SystemCallException("recvmsg", -length, socket.fd()));
                return; // A permanent error must not keep the loop busy.
            }
            deliver(length);
        }
    }

    private void deliver(int length) {
        BiConsumer<? super Buffer, ? super SocketAddress> callback = onMessage;
        assert callback != null : "received without a callback";
        SocketAddress from = exchange.from();
        messageTruncated = exchange.isTruncated();
        received.add(1);
        truncated.add(messageTruncated ? 1 : 0);
        NativeBuffer message = exchange.received(length);
        try {
            callback.accept(message, from);
        } finally {
            exchange.takeBack(message);
            messageTruncated = false;
        }
    }

    private boolean wantsMessages() {
        return onMessage != null && !paused && !closed;
    }

    @Override
    public boolean isTruncated() {
        loop.requireConfinedWithStack("isTruncated");
        return messageTruncated;
    }

    @Override
    public void pause() {
        loop.requireConfinedWithStack("pause");
        paused = true;
        updateWatcher();
    }

    @Override
    public void resume() {
        loop.requireConfinedWithStack("resume");
        paused = false;
        updateWatcher();
    }

    @Override
    public boolean isPaused() {
        loop.requireConfinedWithStack("isPaused");
        return paused;
    }

    @Override
    public boolean send(Buffer message, SocketAddress to) {
        return sendTo(message, Objects.requireNonNull(to, "to"));
    }

    @Override
    public boolean send(Buffer message) {
        if (peer == null) {
            throw new IllegalStateException(
                    this + " has no peer: call connect(), or pass the address to send()");
        }
        return sendTo(message, null);
    }

    private boolean sendTo(Buffer message, @Nullable SocketAddress to) {
        loop.requireConfinedWithStack("send");
        Objects.requireNonNull(message, "message");
        int length = message.readable();
        if (closed) {
            sendQueue.dropped.add(1);
            return false;
        }
        boolean accepted = sendQueue.offer(message, to);
        if (accepted) {
            message.skip(length);
        }
        updateWatcher();
        return accepted;
    }

    private void flush() {
        sendQueue.flush(MAX_BATCH);
        updateWatcher();
    }

    @Override
    public int pending() {
        loop.requireConfinedWithStack("pending");
        return sendQueue.size();
    }

    private void updateWatcher() {
        if (closed) {
            return;
        }
        boolean sends = !sendQueue.isEmpty();
        if (sends && family == Linux.AF_UNIX && peer == null) {
            scheduleRetry();
            sends = false;
        }
        WatchSpec wanted =
                wantsMessages() ? (sends ? both : reading) : sends ? writing : WatchSpec.nothing();
        if (wanted == watched) {
            return;
        }
        watched = wanted;
        if (watcher == null) {
            watcher = loop.watch(socket, wanted);
        } else {
            watcher.modify(wanted);
        }
    }

    private void scheduleRetry() {
        if (retry == null) {
            retry =
                    loop.after(
                            RETRY_DELAY,
                            timer -> {
                                retry = null;
                                flush();
                            });
        }
    }

    @Override
    public Datagram onError(Consumer<? super SystemCallException> callback) {
        loop.requireConfinedWithStack("onError");
        onError = Objects.requireNonNull(callback, "callback");
        return this;
    }

    /// Counts an error and reports it after the current call has returned.
    private void failed(SystemCallException failure) {
        failed.add(1);
        loop.microtask(
                () -> {
                    if (onError != null && !closed) {
                        onError.accept(failure);
                    }
                });
    }

    @Override
    public Datagram onClose(Runnable callback) {
        loop.requireConfinedWithStack("onClose");
        onClose = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public boolean isOpen() {
        loop.requireConfinedWithStack("isOpen");
        return !closed;
    }

    @Override
    public void close() {
        loop.requireConfinedWithStack("close");
        if (closed) {
            return;
        }
        closed = true;
        sendQueue.clear();
        if (retry != null) {
            retry.cancel();
        }
        loop.disown(this);
        socket.close();
        try {
            loop.microtask(this::notifyClosed);
        } catch (LoopTerminatedException e) {
            notifyClosed(); // The loop is closing and runs no more microtasks.
        }
    }

    private void notifyClosed() {
        if (onClose != null) {
            onClose.run();
        }
    }

    private void requireOpen(String method) {
        loop.requireOpenWithStack(method);
        if (closed) {
            throw new IllegalStateException(
                    this + " is closed: call " + method + " before close()");
        }
    }

    @Override
    public SocketAddress address() {
        return address;
    }

    @Override
    public @Nullable SocketAddress peer() {
        loop.requireConfinedWithStack("peer");
        return peer;
    }

    @Override
    public long received() {
        return received.get();
    }

    @Override
    public long truncated() {
        return truncated.get();
    }

    @Override
    public long sent() {
        return sendQueue.sent.get();
    }

    @Override
    public long dropped() {
        return sendQueue.dropped.get();
    }

    @Override
    public long failed() {
        return failed.get();
    }

    @Override
    public String toString() {
        return "Datagram[" + address + (closed ? ", closed]" : "]");
    }
}
