package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.memory.HeapShare;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.security.SecureRandom;
import java.time.Duration;
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

    /// After how long without use long arrays are dropped.
    private static final Duration IDLE = Duration.ofSeconds(10);

    private static final int KEY_POOL_BYTES = 1 << 10;

    // Shared: by all threads that open sockets, under its own lock.
    private static final Map<EventLoop, Workbench> BY_LOOP =
            Collections.synchronizedMap(new WeakHashMap<>());

    /// Where bytes are unmasked, inflated from, and text is encoded to.
    final byte[] scratch = new byte[SCRATCH_BYTES];

    /// Where bytes are masked and deflated to, or inflated to.
    final byte[] second = new byte[SCRATCH_BYTES];

    /// For the one byte that is too many.
    final byte[] probe = new byte[1];

    /// For what does not fit into those.
    final ArrayStock arrays = new ArrayStock();

    /// What messages that are not whole may hold together.
    final HeapShare share;

    /// Where a frame is made that is written at once.
    final Buffer frame = Buffer.allocate(MOST_HEADER_BYTES + SCRATCH_BYTES);

    /// Checks text that is whole.
    final Utf8Check text = new Utf8Check();

    final Inflation inflation = new Inflation(this);
    final TextBytes encoding = new TextBytes(this);

    /// Weak, as the workbench is found by it.
    private final WeakReference<EventLoop> owner;

    // Loop thread only.
    private @Nullable Inflater inflater;
    private @Nullable Deflater deflater;
    private @Nullable Buffer handed;
    private boolean arraysWatched;
    private boolean outputLimitMet;
    private long worked;
    private final SecureRandom random = new SecureRandom();
    private final byte[] keys = new byte[KEY_POOL_BYTES];
    private int keysUsed = KEY_POOL_BYTES;

    private Workbench(EventLoop loop) {
        owner = new WeakReference<>(loop);
        share = HeapShare.of(loop);
    }

    /// That of a loop. On the loop's thread.
    static Workbench of(EventLoop loop) {
        return BY_LOOP.computeIfAbsent(
                loop,
                owner -> {
                    Workbench made = new Workbench(owner);
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

    /// Whether no socket of the loop has been closed for that before: said once, it is said to who sends.
    boolean isFirstAtOutputLimit() {
        boolean first = !outputLimitMet;
        outputLimitMet = true;
        return first;
    }

    // ------------------------------------------------------------------ compression

    /// For one message, which is done with it before the next one asks.
    Inflater inflater() {
        Inflater known = inflater;
        if (known == null) {
            known = new Inflater(true);
            inflater = known;
        }
        known.reset();
        return known;
    }

    /// As [#inflater()].
    Deflater deflater() {
        Deflater known = deflater;
        if (known == null) {
            // The loop's time is everybody's, and the fastest level has most of what there is to
            // gain.
            known = new Deflater(Deflater.BEST_SPEED, true);
            deflater = known;
        }
        known.reset();
        return known;
    }

    /// Bytes were inflated or deflated.
    void worked(long bytes) {
        worked += bytes;
    }

    /// How many bytes were inflated and deflated so far.
    long workedBytes() {
        return worked;
    }

    // ------------------------------------------------------------------ long messages

    /// A long array, which [ArrayStock#give] takes back.
    byte[] takeArray(int leastBytes) {
        watch();
        return arrays.take(leastBytes);
    }

    /// Returns the reused buffer for delivering long messages as slices. Null if the message is too
    /// long to reuse it, or the JVM has no direct memory left. The loop may still have some.
    @Nullable Buffer handing(int bytes) {
        if (bytes > ArrayStock.MOST_KEPT_BYTES) {
            return null;
        }
        Buffer known = handed;
        if (known == null || known.capacity() < bytes) {
            try {
                known = Buffer.allocate(bytes + ArrayStock.STEP_BYTES - 1 & -ArrayStock.STEP_BYTES);
            } catch (OutOfMemoryError e) {
                return null;
            }
            handed = known;
        }
        watch();
        return known.clear();
    }

    private void watch() {
        EventLoop loop = owner.get();
        if (!arraysWatched && loop != null) {
            arraysWatched = true;
            loop.after(
                            IDLE,
                            timer -> {
                                if (arrays.dropIfUnused()) {
                                    arraysWatched = false;
                                    handed = null;
                                } else {
                                    timer.reschedule(IDLE);
                                }
                            })
                    .unreference();
        }
    }

    /// The loop is over: memory that the garbage collector does not see goes back now.
    @Override
    public void close() {
        if (inflater != null) {
            inflater.end();
            inflater = null;
        }
        if (deflater != null) {
            deflater.end();
            deflater = null;
        }
    }
}
