package dev.gyre.testkit;

import dev.gyre.testkit.internal.PeerListener;
import dev.gyre.testkit.internal.SimulatedKernel;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// A listener outside the loop, for loops that connect to servers. It accepts every connection to
/// its port, at any address. See [SimulatedWorld#listen].
///
/// ```java
/// var server = world.listen(5432);
/// server.onConnect(peer -> peer.send("ready\n"));
/// ```
///
/// **Threads.** The world's thread.
public final class SimulatedListener implements AutoCloseable {
    private final SimulatedKernel kernel;
    private final PeerListener listener;

    // The world's thread only.
    private final List<SimulatedPeer> peers = new ArrayList<>();
    private @Nullable Consumer<? super SimulatedPeer> onConnect;

    SimulatedListener(SimulatedKernel kernel, int port) {
        this.kernel = kernel;
        listener =
                PeerListener.open(
                        kernel,
                        port,
                        connection -> {
                            SimulatedPeer peer = new SimulatedPeer(connection);
                            kernel.runOutside(() -> connected(peer));
                        });
    }

    private void connected(SimulatedPeer peer) {
        peers.add(peer);
        if (onConnect != null) {
            onConnect.accept(peer);
        }
    }

    /// Returns the accepted peers in order.
    public List<SimulatedPeer> peers() {
        return List.copyOf(peers);
    }

    /// Sets a callback for each peer accepted from now on.
    ///
    /// @return this listener
    public SimulatedListener onConnect(Consumer<? super SimulatedPeer> callback) {
        onConnect = Objects.requireNonNull(callback, "callback");
        return this;
    }

    /// Refuses further connections. Accepted ones stay open.
    @Override
    public void close() {
        listener.close();
    }

    @Override
    public String toString() {
        return "SimulatedListener[" + peers.size() + " peers, seed " + kernel.seed() + "]";
    }
}
