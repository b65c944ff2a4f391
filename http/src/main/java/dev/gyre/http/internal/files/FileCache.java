package dev.gyre.http.internal.files;

import dev.gyre.BoundedExecutor;
import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/// The files that a server has sent lately, by what was asked for: so that what is asked for again costs neither a
/// system call to find it nor another thread. Those that were not asked for longest go first.
///
/// An evicted file stays open until its transfers complete. If descriptors run out, the cache
/// closes files that are not being sent.
///
/// Loop thread only; [#close()] also on the thread that ends the loop.
public final class FileCache implements AutoCloseable {
    private static final int MOST_FILES = 256;
    private static final long MOST_BYTES = 16L << 20;

    /// The share of the open-file limit for the caches of all loops: half of the listeners'
    /// reserve.
    private static final int DESCRIPTOR_SHARE = 20;

    /// With less room than this only what is small is compressed anew: what is large would throw out what was made
    /// with as much effort, and be thrown out by that in turn.
    private static final long LEAST_ROOM_BYTES = 1 << 20;

    private static final int SMALL_TO_COMPRESS_BYTES = 64 << 10;
    private static final Duration UNUSED = Duration.ofSeconds(10);

    /// A disk does not get faster by more questions, and each that is under way may hold a megabyte to be compressed.
    private static final int MOST_LOOKS_AT_ONCE = 64;

    private static final int MOST_LOOKS_WAITING = 512;

    /// @param directory whose path it is
    /// @param path as it was sent
    record Key(Directory directory, String path) {}

    private final EventLoop loop;
    private final BoundedExecutor lookers;
    private final Map<Key, CachedFile> files = new LinkedHashMap<>(64, 0.75f, true);

    /// Everything that is open, also what is no longer here and still being sent.
    private final Set<CachedFile> open = new HashSet<>();

    // Written by the loop thread.
    private final AtomicLong refused = new AtomicLong();

    private final int maxDescriptors;
    private int descriptors;
    private long memoryBytes;
    private @Nullable Timer sweeper;
    private boolean closed;

    public FileCache(EventLoop loop) {
        this(loop, maxDescriptors(Descriptor.limit()));
    }

    FileCache(EventLoop loop, int maxDescriptors) {
        this.loop = loop;
        this.maxDescriptors = maxDescriptors;
        lookers =
                BoundedExecutor.bounded(
                        loop.config().executor(), MOST_LOOKS_AT_ONCE, MOST_LOOKS_WAITING);
        loop.own(this);
    }

    /// @param limit the open-file limit; negative if unknown
    static int maxDescriptors(long limit) {
        int loops = Runtime.getRuntime().availableProcessors();
        return limit < 0 ? MOST_FILES : Math.clamp(limit / DESCRIPTOR_SHARE / loops, 1, MOST_FILES);
    }

    EventLoop loop() {
        return loop;
    }

    /// Who looks at the disk, as often at a time as is good for it.
    Executor lookers() {
        return lookers;
    }

    @Nullable CachedFile get(Key key) {
        CachedFile known = files.get(key);
        if (known != null) {
            known.usedNanos = loop.nowNanos();
        }
        return known;
    }

    /// Takes a file in that is new: until [#letGo] it is open at least.
    void put(Key key, CachedFile file) {
        long now = loop.nowNanos();
        file.checkedNanos = now;
        file.usedNanos = now;
        if (closed) {
            file.close();
            return;
        }
        open.add(file);
        file.retain();
        CachedFile before = files.put(key, file);
        memoryBytes += file.memoryBytes();
        descriptors += file.holdsDescriptor() ? 1 : 0;
        if (before != null) {
            gone(before);
        }
        releaseDescriptors(maxDescriptors);
        Iterator<CachedFile> oldest = files.values().iterator();
        while (files.size() > MOST_FILES || memoryBytes > MOST_BYTES) {
            CachedFile evicted = oldest.next();
            oldest.remove();
            gone(evicted);
        }
        if (sweeper == null) {
            sweeper = loop.every(UNUSED.dividedBy(2), _ -> sweep(loop.nowNanos())).unreference();
        }
    }

    /// Somebody needs it no longer.
    void letGo(CachedFile file) {
        if (file.release()) {
            open.remove(file);
        }
    }

    /// It is not there any more, or not the same.
    void remove(Key key) {
        CachedFile before = files.remove(key);
        if (before != null) {
            gone(before);
        }
    }

    /// Evicts the files that hold a descriptor, so that others can be opened. Files being sent stay
    /// open until their transfers complete.
    ///
    /// @return whether a descriptor was released
    boolean releaseDescriptors() {
        int before = open.size();
        releaseDescriptors(0);
        return open.size() < before;
    }

    /// Evicts the least recently used files until at most `max` hold a descriptor.
    private void releaseDescriptors(int max) {
        Iterator<CachedFile> oldest = files.values().iterator();
        while (descriptors > max) {
            CachedFile next = oldest.next();
            if (next.holdsDescriptor()) {
                oldest.remove();
                gone(next);
            }
        }
    }

    /// Counts a file request that got 503 for lack of descriptors or workers.
    void refused() {
        refused.setOpaque(refused.getPlain() + 1);
    }

    /// Returns how many file requests were refused. Any thread.
    public long allRefused() {
        return refused.getOpaque();
    }

    private void gone(CachedFile file) {
        memoryBytes -= file.memoryBytes();
        descriptors -= file.holdsDescriptor() ? 1 : 0;
        letGo(file);
    }

    /// Forgets what nobody has asked for lately.
    void sweep(long nowNanos) {
        files.values()
                .removeIf(
                        file -> {
                            boolean unused = nowNanos - file.usedNanos >= UNUSED.toNanos();
                            if (unused) {
                                gone(file);
                            }
                            return unused;
                        });
        Timer known = sweeper;
        if (files.isEmpty() && known != null) {
            known.cancel();
            sweeper = null;
        }
    }

    /// How large a file may be for which a compressed form is made.
    int mostToCompress() {
        return MOST_BYTES - memoryBytes >= LEAST_ROOM_BYTES
                ? FileLoader.MOST_GZIP_BYTES
                : SMALL_TO_COMPRESS_BYTES;
    }

    int size() {
        return files.size();
    }

    /// How many are open, here or under way.
    int held() {
        return open.size();
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /// Closes everything, also what is being sent.
    @Override
    public void close() {
        closed = true;
        files.clear();
        descriptors = 0;
        memoryBytes = 0;
        open.forEach(CachedFile::close);
        open.clear();
        Timer known = sweeper;
        if (known != null && loop.isLoopThread()) {
            known.cancel();
        }
        sweeper = null;
    }
}
