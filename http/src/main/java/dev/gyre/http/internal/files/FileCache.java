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

/// Caches recently sent files by requested path. A hit needs no lookup and no other thread. The
/// least recently used files are evicted first.
///
/// An evicted file stays open until its transfers complete. If descriptors run out, the cache
/// closes files that are not being sent.
///
/// Loop thread only; [#close()] also on the thread that closes the loop.
public final class FileCache implements AutoCloseable {
    private static final int MAX_FILES = 256;
    private static final long MAX_MEMORY_BYTES = 16L << 20;

    /// The share of the open-file limit for the caches of all loops: half of the listeners'
    /// reserve.
    private static final int DESCRIPTOR_SHARE = 20;

    /// With less free memory only small files are compressed. A large one would evict others that
    /// cost as much to compress.
    private static final long MIN_FREE_BYTES = 1 << 20;

    private static final int SMALL_GZIP_BYTES = 64 << 10;
    private static final Duration UNUSED_TIMEOUT = Duration.ofSeconds(10);

    /// More lookups do not make a disk faster, and each may hold 1 MiB to compress.
    private static final int MAX_LOOKUPS = 64;

    private static final int MAX_QUEUED_LOOKUPS = 512;

    /// @param path decoded, relative to the directory
    record Key(Directory directory, String path) {}

    private final EventLoop loop;
    private final BoundedExecutor executor;
    private final int maxDescriptors;

    // Shared: written by the loop thread.
    private final AtomicLong rejected = new AtomicLong();

    // Loop thread only.
    private final Map<Key, CachedFile> files = new LinkedHashMap<>(64, 0.75f, true);

    /// All open files, including evicted ones that are still being sent.
    private final Set<CachedFile> open = new HashSet<>();

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
        executor =
                BoundedExecutor.bounded(loop.config().executor(), MAX_LOOKUPS, MAX_QUEUED_LOOKUPS);
        loop.own(this);
    }

    /// @param limit the open-file limit; negative if unknown
    static int maxDescriptors(long limit) {
        int loops = Runtime.getRuntime().availableProcessors();
        return limit < 0 ? MAX_FILES : Math.clamp(limit / DESCRIPTOR_SHARE / loops, 1, MAX_FILES);
    }

    EventLoop loop() {
        return loop;
    }

    /// Returns the executor of lookups, which block.
    Executor executor() {
        return executor;
    }

    @Nullable CachedFile get(Key key) {
        CachedFile cached = files.get(key);
        if (cached != null) {
            cached.usedNanos = loop.nowNanos();
        }
        return cached;
    }

    /// Adds a new file, and evicts others if limits are exceeded.
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
            onRemoved(before);
        }
        releaseDescriptors(maxDescriptors);
        Iterator<CachedFile> oldest = files.values().iterator();
        while (files.size() > MAX_FILES || memoryBytes > MAX_MEMORY_BYTES) {
            CachedFile evicted = oldest.next();
            oldest.remove();
            onRemoved(evicted);
        }
        if (sweeper == null) {
            sweeper =
                    loop.every(UNUSED_TIMEOUT.dividedBy(2), _ -> sweep(loop.nowNanos()))
                            .unreference();
        }
    }

    /// Ends a use that began with [CachedFile#retain()].
    void release(CachedFile file) {
        if (file.release()) {
            open.remove(file);
        }
    }

    /// Removes a file that was deleted or changed.
    void remove(Key key) {
        CachedFile before = files.remove(key);
        if (before != null) {
            onRemoved(before);
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
                onRemoved(next);
            }
        }
    }

    private void onRemoved(CachedFile file) {
        memoryBytes -= file.memoryBytes();
        descriptors -= file.holdsDescriptor() ? 1 : 0;
        release(file);
    }

    /// Counts a file request that got 503 for lack of descriptors or workers.
    void countRejected() {
        rejected.setOpaque(rejected.getPlain() + 1);
    }

    /// Returns how many file requests were rejected. Any thread.
    public long rejected() {
        return rejected.getOpaque();
    }

    /// Evicts files that were not requested recently.
    void sweep(long nowNanos) {
        files.values()
                .removeIf(
                        file -> {
                            boolean unused = nowNanos - file.usedNanos >= UNUSED_TIMEOUT.toNanos();
                            if (unused) {
                                onRemoved(file);
                            }
                            return unused;
                        });
        Timer timer = sweeper;
        if (files.isEmpty() && timer != null) {
            timer.cancel();
            sweeper = null;
        }
    }

    /// Returns the maximum size of a file to compress.
    int maxGzipBytes() {
        return MAX_MEMORY_BYTES - memoryBytes >= MIN_FREE_BYTES
                ? FileLoader.MAX_GZIP_BYTES
                : SMALL_GZIP_BYTES;
    }

    int size() {
        return files.size();
    }

    int openFiles() {
        return open.size();
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /// Closes all files, including those being sent.
    @Override
    public void close() {
        closed = true;
        files.clear();
        descriptors = 0;
        memoryBytes = 0;
        open.forEach(CachedFile::close);
        open.clear();
        Timer timer = sweeper;
        if (timer != null && loop.isLoopThread()) {
            timer.cancel();
        }
        sweeper = null;
    }
}
