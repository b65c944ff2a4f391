package dev.gyre.http.internal.server;

import java.util.function.Supplier;

/// A warning about the program that a peer can bring about as often as it likes: said once for each loop, so that no
/// peer fills the log.
///
/// Loop thread only.
final class OnceALoop {
    private boolean said;

    void warn(Supplier<String> words) {
        if (!said) {
            said = true;
            HttpLog.LOGGER.log(
                    System.Logger.Level.WARNING,
                    words.get() + ". It is said once for each loop, however often it happens");
        }
    }
}
