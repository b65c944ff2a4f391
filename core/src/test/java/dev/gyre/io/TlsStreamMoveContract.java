package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.internal.tls.Certificates;

import org.junit.jupiter.api.Test;

import java.io.IOException;

/// Clause G-4 with TLS.
public abstract class TlsStreamMoveContract extends StreamMoveContract {
    @Override
    protected StreamConfig serverSide() throws IOException {
        return SMALL.withTls(Certificates.server());
    }

    @Override
    protected StreamConfig clientSide() throws IOException {
        return SMALL.withTls(Certificates.client());
    }

    @Test
    @Clause("G-4")
    void moveTo_duringTheHandshake_throwsAndTheHandshakeCompletes() throws IOException {
        connect();
        Promise<TlsSession> accepted = server.startTls(Certificates.server());
        assertThatThrownBy(() -> server.moveTo(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TLS handshake is not complete");
        Promise<TlsSession> connected = client.startTls(Certificates.client());
        runBothUntil("secured", () -> accepted.isSettled() && connected.isSettled());
        server.moveTo(other);
        runBothUntil("moved", () -> server.loop() == other);
        assertThat(server.tls()).isNotNull();
    }
}
