package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.io.MessageExchange;
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

/// A datagram socket, by readiness: messages are received and sent with one call each, when there is one or room for one.
/// An operation would have to have a buffer for as long as it waits, and the longest message has 64 KiB.
///
/// Loop thread only, but for the counters.
public final class LoopDatagram implements Datagram {
    /// How many messages are received or sent before others have their turn.
    private static final int MOST_AT_ONCE = 64;

    /// How soon to try again where the kernel does not tell of room: it does not for the queue of a Unix socket that
    /// this one is not connected to.
    private static final Duration TRY_AGAIN = Duration.ofMillis(1);

    private final Loop loop;
    private final int family;
    private final int largestMessage;
    private final OpenDescriptor socket;
    private final MessageExchange exchange;
    private final DatagramSendQueue outbox;
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
    private @Nullable Timer tryingAgain;
    private boolean paused;
    private boolean cut;
    private boolean closed;

    private LoopDatagram(
            Loop loop, SocketAddress wanted, DatagramConfig config, OpenDescriptor socket) {
        this.loop = loop;
        this.socket = socket;
        family = SocketAddresses.family(wanted);
        largestMessage = config.largestMessage();
        address = NativeSockets.localAddress(loop.operations().seam(), socket);
        exchange = DatagramSetup.exchangeOf(loop);
        MessageQueue queue = new MessageQueue(loop.operations().pool(), config);
        outbox = new DatagramSendQueue(exchange, socket, family, queue, this::failed);
    }

    public static LoopDatagram bind(
            EventLoop eventLoop, SocketAddress address, DatagramConfig config) {
        Loop loop = Loop.of(eventLoop);
        loop.requireOpenWithStack("bind");
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(config, "config");
        SocketAddresses.requireEncodable(address);
        OpenDescriptor socket = DatagramSetup.open(loop.operations().seam(), address, config);
        try {
            LoopDatagram datagram = new LoopDatagram(loop, address, config, socket);
            loop.own(datagram);
            return datagram;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public Datagram connect(SocketAddress to) {
        requireOpen("connect");
        Objects.requireNonNull(to, "peer");
        int result = exchange.connect(socket, family, to);
        if (result < 0) {
            throw ConnectAttempt.failure(to, -result);
        }
        peer = to;
        return this;
    }

    // ------------------------------------------------------------------ receiving

    @Override
    public Datagram onMessage(BiConsumer<? super Buffer, ? super SocketAddress> callback) {
        requireOpen("onMessage");
        onMessage = Objects.requireNonNull(callback, "callback");
        watch();
        return this;
    }

    private void receive() {
        for (int i = 0; i < MOST_AT_ONCE && wantsMessages(); i++) {
            int length = exchange.receive(socket, largestMessage);
            if (length == -Errno.EAGAIN) {
                return;
            }
            if (length < 0) {
                failed(new SystemCallException("recvmsg", -length, socket.fd()));
                return; // One that lasts must not keep the loop busy.
            }
            handOut(length);
        }
    }

    private void handOut(int length) {
        BiConsumer<? super Buffer, ? super SocketAddress> callback = onMessage;
        assert callback != null : "nothing is read that nobody wants";
        SocketAddress from = exchange.from();
        cut = exchange.isTruncated();
        received.add(1);
        truncated.add(cut ? 1 : 0);
        NativeBuffer message = exchange.received(length);
        try {
            callback.accept(message, from);
        } finally {
            exchange.takeBack(message);
            cut = false;
        }
    }

    private boolean wantsMessages() {
        return onMessage != null && !paused && !closed;
    }

    @Override
    public boolean isTruncated() {
        loop.requireConfinedWithStack("isTruncated");
        return cut;
    }

    @Override
    public void pause() {
        loop.requireConfinedWithStack("pause");
        paused = true;
        watch();
    }

    @Override
    public void resume() {
        loop.requireConfinedWithStack("resume");
        paused = false;
        watch();
    }

    @Override
    public boolean isPaused() {
        loop.requireConfinedWithStack("isPaused");
        return paused;
    }

    // ------------------------------------------------------------------ sending

    @Override
    public boolean send(Buffer message, SocketAddress to) {
        return sendTo(message, Objects.requireNonNull(to, "to"));
    }

    @Override
    public boolean send(Buffer message) {
        if (peer == null) {
            throw new IllegalStateException(
                    this + " has no peer: connect it, or say where the message goes");
        }
        return sendTo(message, null);
    }

    private boolean sendTo(Buffer message, @Nullable SocketAddress to) {
        loop.requireConfinedWithStack("send");
        Objects.requireNonNull(message, "message");
        int length = message.readable();
        if (closed) {
            outbox.dropped.add(1);
            return false;
        }
        boolean accepted = outbox.offer(message, to);
        if (accepted) {
            message.skip(length);
        }
        watch();
        return accepted;
    }

    private void flush() {
        outbox.flush(MOST_AT_ONCE);
        watch();
    }

    @Override
    public int pending() {
        loop.requireConfinedWithStack("pending");
        return outbox.size();
    }

    // ------------------------------------------------------------------ readiness

    /// Has the loop tell of what is wanted now.
    private void watch() {
        if (closed) {
            return;
        }
        boolean sends = !outbox.isEmpty();
        if (sends && family == Linux.AF_UNIX && peer == null) {
            tryAgainSoon();
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

    private void tryAgainSoon() {
        if (tryingAgain == null) {
            tryingAgain =
                    loop.after(
                            TRY_AGAIN,
                            timer -> {
                                tryingAgain = null;
                                flush();
                            });
        }
    }

    // ------------------------------------------------------------------ ending

    @Override
    public Datagram onError(Consumer<? super SystemCallException> callback) {
        loop.requireConfinedWithStack("onError");
        onError = Objects.requireNonNull(callback, "callback");
        return this;
    }

    /// Counts an error, and tells of it when the call that met it has returned.
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
        outbox.clear();
        if (tryingAgain != null) {
            tryingAgain.cancel();
        }
        loop.disown(this);
        socket.close();
        try {
            loop.microtask(this::tellClosed);
        } catch (LoopTerminatedException e) {
            tellClosed(); // It is the loop that ends, and runs no microtasks any more.
        }
    }

    private void tellClosed() {
        if (onClose != null) {
            onClose.run();
        }
    }

    private void requireOpen(String method) {
        loop.requireOpenWithStack(method);
        if (closed) {
            throw new IllegalStateException(this + " is closed: " + method + " comes too late");
        }
    }

    // ------------------------------------------------------------------ looking

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
        return outbox.sent.get();
    }

    @Override
    public long dropped() {
        return outbox.dropped.get();
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
