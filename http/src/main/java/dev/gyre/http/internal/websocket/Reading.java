package dev.gyre.http.internal.websocket;

import dev.gyre.io.Stream;

/// Whether a socket reads: its user may have stopped that, and so may we.
///
/// Loop thread only.
final class Reading {
    private final Stream stream;

    // Loop thread only.
    private boolean paused;
    private boolean held;
    private boolean yielding;

    Reading(Stream stream) {
        this.stream = stream;
    }

    /// Stops for the user.
    void pause() {
        paused = true;
        stream.pause();
    }

    /// Takes [#pause()] back.
    void resume() {
        paused = false;
        update();
    }

    /// Stops for a reason of ours.
    void hold() {
        held = true;
        stream.pause();
    }

    /// Takes [#hold()] back.
    void letGo() {
        if (held) {
            held = false;
            update();
        }
    }

    /// Stops until others had their turn.
    void yieldToOthers() {
        if (!yielding) {
            yielding = true;
            stream.pause();
            stream.loop().defer(this::takeTurn);
        }
    }

    private void takeTurn() {
        yielding = false;
        if (stream.isOpen()) {
            update();
        }
    }

    /// From now on the peer's close frame is waited for, and nothing else matters.
    void goOnForGood() {
        held = false;
        paused = false;
        if (stream.isOpen()) {
            stream.resume();
        }
    }

    private void update() {
        if (!held && !paused && !yielding) {
            stream.resume();
        }
    }
}
