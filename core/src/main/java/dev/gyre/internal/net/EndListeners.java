package dev.gyre.internal.net;

import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Who hears of the end of a stream: its protocol, its user, and those who depend on it.
///
/// Loop thread only.
final class EndListeners {
    private @Nullable Consumer<? super CloseReason> user;

    /// The listener, the other end of a pipe.
    private @Nullable Consumer<? super Connection> others;

    private boolean told;

    void user(Consumer<? super CloseReason> callback) {
        user = callback;
    }

    boolean areTold() {
        return told;
    }

    void add(Consumer<? super Connection> other) {
        Consumer<? super Connection> before = others;
        others =
                before == null
                        ? other
                        : connection -> {
                            before.accept(connection);
                            other.accept(connection);
                        };
    }

    /// Tells them all, also if one throws.
    void tell(Connection ended, CloseReason why) {
        Protocol speaking = ended.input.protocol();
        try {
            if (speaking != null) {
                speaking.onClose(ended.face(), why);
            }
        } finally {
            try {
                if (user != null) {
                    user.accept(why);
                }
            } finally {
                told = true;
                if (others != null) {
                    others.accept(ended);
                }
            }
        }
    }
}
