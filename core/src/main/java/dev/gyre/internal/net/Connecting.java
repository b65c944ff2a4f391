package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;

import java.net.SocketAddress;

/// connecting
public final class Connecting {
    private Connecting() {}

    public static Promise<Stream> connect(EventLoop loop, SocketAddress to, StreamConfig config) {
        throw new UnsupportedOperationException();
    }
}
