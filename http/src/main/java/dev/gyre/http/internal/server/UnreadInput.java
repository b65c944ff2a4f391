package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Refusal;

import org.jspecify.annotations.Nullable;

/// What peers have sent and nobody can use yet: heads that are not whole, requests sent ahead of an answer, content that
/// nobody has asked for. It stays with its streams, in the loop's memory, of which all of it may take a half: at three
/// quarters no connection is accepted any more, and who wants to keep everybody out need not even be answered.
///
/// Above that whoever has kept something longest gives it up. A request that arrives in pieces takes a moment for it, and
/// one that is never to be whole a long time, so it is not those who come meanwhile that pay.
///
/// Loop thread only.
final class UnreadInput {
    /// What one connection keeps.
    static final class Kept {
        private final UnreadInput all;
        private final HttpConnection connection;
        private int bytes;
        private boolean givenUp;
        private @Nullable Kept older;
        private @Nullable Kept newer;

        private Kept(UnreadInput all, HttpConnection connection) {
            this.all = all;
            this.connection = connection;
        }

        /// So much is unread now.
        void note(int unread) {
            if (unread > 0 || bytes > 0) {
                all.note(this, unread);
            }
        }

        /// Whether there is no memory for it any more: it comes again, to be dropped.
        boolean isGivenUp() {
            return givenUp;
        }

        /// A head that is not whole is refused. What was sent ahead of an answer is dropped, which is the last one then,
        /// and content that nobody has asked for fails when somebody does.
        private void giveUp() {
            Exchange open = connection.open();
            if (open == null) {
                connection.giveUp(Refusal.NO_MEMORY);
                return;
            }
            givenUp = true;
            connection.giveUpBody();
            RequestBody body = open.body();
            if (body != null && !body.isEnded()) {
                HttpException reason = new HttpException(503, Refusal.NO_MEMORY.reason());
                if (body.isBegun()) {
                    connection.failBody(reason);
                } else {
                    body.fail(reason);
                }
            }
            connection.resumeIfOpen();
        }
    }

    /// Streams keep what is unread in buffers of this size, or four times that, and so on.
    private static final int LEAST_BYTES = 4 << 10;

    private final long limit;
    private long all;
    private @Nullable Kept oldest;
    private @Nullable Kept newest;

    /// @param limit how many bytes of memory all of it may take
    UnreadInput(long limit) {
        this.limit = limit;
    }

    Kept of(HttpConnection connection) {
        return new Kept(this, connection);
    }

    private void note(Kept kept, int unread) {
        if (unread == 0) {
            forget(kept);
            return;
        }
        int bytes = LEAST_BYTES;
        while (bytes < unread) {
            bytes <<= 2;
        }
        if (kept.bytes == 0) {
            append(kept);
        }
        all += bytes - kept.bytes;
        kept.bytes = bytes;
        for (Kept first = oldest; first != null && all > limit; first = oldest) {
            forget(first);
            first.giveUp();
        }
    }

    private void forget(Kept kept) {
        if (kept.bytes > 0) {
            all -= kept.bytes;
            kept.bytes = 0;
            remove(kept);
        }
    }

    private void append(Kept kept) {
        Kept last = newest;
        kept.older = last;
        newest = kept;
        if (last == null) {
            oldest = kept;
        } else {
            last.newer = kept;
        }
    }

    private void remove(Kept kept) {
        Kept before = kept.older;
        Kept behind = kept.newer;
        kept.older = null;
        kept.newer = null;
        if (before == null) {
            oldest = behind;
        } else {
            before.newer = behind;
        }
        if (behind == null) {
            newest = before;
        } else {
            behind.older = before;
        }
    }
}
