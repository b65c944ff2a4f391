package dev.gyre.internal.tls;

/// Knows whether certificates were shown in a handshake, which is how a resumed session is told from a new one.
///
/// Session ids and creation times do not tell: those of TLS 1.3 change, and these are kept in the ticket and
/// have a clock's grain. But keys and trust are asked for exactly when the handshake is a full one, and always within
/// the engine's delegated tasks, so on the thread that runs them.
final class HandshakeWitness {
    private static final ScopedValue<HandshakeWitness> PRESENT = ScopedValue.newInstance();

    // Written by whoever runs the tasks, read by the loop when they are done: the hand-over orders both.
    private boolean sawCertificates;

    /// Runs delegated tasks in its presence.
    void attend(Runnable tasks) {
        ScopedValue.where(PRESENT, this).run(tasks);
    }

    /// A certificate is about to be shown, or looked at.
    static void note() {
        if (PRESENT.isBound()) {
            PRESENT.get().sawCertificates = true;
        }
    }

    boolean sawCertificates() {
        return sawCertificates;
    }
}
