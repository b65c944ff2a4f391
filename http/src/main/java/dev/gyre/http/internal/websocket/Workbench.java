package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/// What all sockets of a loop work with: memory that is used within a call and never between two, and the states of
/// zlib, which are 40 KB to inflate and 300 KB to deflate. A socket that waits holds none of it.
///
/// There is one for each loop, found by it: sockets of a server and of any number of clients share it. It is gone
/// with the loop.
final class Workbench implements AutoCloseable {
    /// How much is worked on at a time.
    static final int SCRATCH_BYTES = 64 << 10;

    /// A header of the longest kind, with a key.
    static final int MOST_HEADER_BYTES = 14;

    /// How many inflaters wait for the next message; a message that comes in pieces keeps its own until it is whole.
    private static final int MOST_INFLATERS = 4;

    private static final int KEY_POOL_BYTES = 1 << 10;

    // Shared: by all threads that open sockets, under its own lock.
    private static final Map<EventLoop, Workbench> BY_LOOP =
            Collections.synchronizedMap(new WeakHashMap<>());

    /// Where bytes are unmasked, and inflated from.
    final byte[] scratch = new byte[SCRATCH_BYTES];

    /// Where bytes are masked and deflated to, or inflated to.
    final byte[] second = new byte[SCRATCH_BYTES];

    /// Where a frame is made that is written at once.
    final Buffer frame = Buffer.allocate(MOST_HEADER_BYTES + SCRATCH_BYTES);

    /// Checks text that is whole.
    final Utf8Check text = new Utf8Check();

    // Loop thread only.
    private final ArrayDeque<Inflater> inflaters = new ArrayDeque<>(MOST_INFLATERS);
    private final ArrayDeque<Deflater> deflaters = new ArrayDeque<>(1);
    private final SecureRandom random = new SecureRandom();
    private final byte[] keys = new byte[KEY_POOL_BYTES];
    private int keysUsed = KEY_POOL_BYTES;
    private boolean closed;

    private Workbench() {}

    /// That of a loop. On the loop's thread.
    static Workbench of(EventLoop loop) {
        return BY_LOOP.computeIfAbsent(
                loop,
                owner -> {
                    Workbench made = new Workbench();
                    owner.own(made);
                    return made;
                });
    }

    /// A key to mask with that nobody can guess: RFC 6455, section 10.3.
    int newKey() {
        if (keysUsed == KEY_POOL_BYTES) {
            random.nextBytes(keys);
            keysUsed = 0;
        }
        int key = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            key = key << 8 | (keys[keysUsed++] & 0xff);
        }
        return key;
    }

    Inflater takeInflater() {
        Inflater waiting = inflaters.poll();
        return waiting != null ? waiting : new Inflater(true);
    }

    void giveBack(Inflater inflater) {
        if (closed || inflaters.size() == MOST_INFLATERS) {
            inflater.end();
        } else {
            inflater.reset();
            inflaters.push(inflater);
        }
    }

    /// How many inflaters wait to be used again.
    int idleInflaters() {
        return inflaters.size();
    }

    Deflater takeDeflater() {
        Deflater waiting = deflaters.poll();
        // The loop's time is everybody's, and the fastest level has most of what there is to gain.
        return waiting != null ? waiting : new Deflater(Deflater.BEST_SPEED, true);
    }

    void giveBack(Deflater deflater) {
        if (closed || !deflaters.isEmpty()) {
            deflater.end();
        } else {
            deflater.reset();
            deflaters.push(deflater);
        }
    }

    /// The loop is over: memory that the garbage collector does not see goes back now.
    @Override
    public void close() {
        closed = true;
        inflaters.forEach(Inflater::end);
        inflaters.clear();
        deflaters.forEach(Deflater::end);
        deflaters.clear();
    }
}
