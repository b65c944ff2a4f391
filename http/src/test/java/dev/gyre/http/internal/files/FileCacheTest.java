package dev.gyre.http.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.internal.files.CachedFile.Representation;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

class FileCacheTest {
    @TempDir Path root;
    private EventLoop loop;
    private FileCache cache;
    private FileLoader loader;
    private Directory directory;

    @BeforeEach
    void open() throws IOException {
        loop = EventLoop.open();
        cache = new FileCache(loop);
        Path real = root.toRealPath();
        loader = new FileLoader(real, FilesConfig.DEFAULT, true);
        directory = Directory.of(cache, real, FilesConfig.DEFAULT, 0);
        Files.write(root.resolve("big"), new byte[FileLoader.SMALL_BYTES + 1]);
        Files.write(root.resolve("small"), new byte[FileLoader.SMALL_BYTES]);
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private CachedFile load(String name) throws IOException {
        FileLoader.Result found = loader.load(new RequestedPath(List.of(name), false), 0);
        assertThat(found).isInstanceOf(CachedFile.class);
        return (CachedFile) found;
    }

    private FileCache.Key key(String name) {
        return new FileCache.Key(directory, name);
    }

    private static boolean isOpen(CachedFile file) {
        var descriptor = file.plain.file();
        return descriptor != null && descriptor.isOpen();
    }

    @Test
    @Clause("H-4")
    void maxDescriptors_ofAllLoops_isAtMostATwentiethOfTheLimit() {
        int loops = Runtime.getRuntime().availableProcessors();
        assertThat(FileCache.maxDescriptors(-1)).isEqualTo(256);
        assertThat(FileCache.maxDescriptors(1)).isEqualTo(1);
        assertThat(FileCache.maxDescriptors(1024L * loops)).isEqualTo(51);
        assertThat(FileCache.maxDescriptors(Long.MAX_VALUE)).isEqualTo(256);
    }

    @Test
    @Clause("H-4")
    void put_aboveTheDescriptorLimit_closesThoseNotUsedLongestAndKeepsWhatIsInMemory()
            throws Exception {
        FileCache few = new FileCache(loop, 2);
        Files.write(root.resolve("more"), new byte[FileLoader.SMALL_BYTES + 1]);
        CachedFile small = load("small");
        CachedFile first = load("big");
        CachedFile second = load("more");
        CachedFile third = load("big");
        few.put(key("small"), small);
        few.put(key("first"), first);
        few.put(key("second"), second);
        assertThat(few.get(key("first"))).isNotNull(); // So that the second is the oldest.
        few.put(key("third"), third);

        assertThat(isOpen(first)).isTrue();
        assertThat(isOpen(second)).isFalse();
        assertThat(isOpen(third)).isTrue();
        assertThat(few.get(key("small"))).isNotNull();
    }

    @Test
    @Clause({"E-3", "H-4"})
    void releaseDescriptors_closesWhatNobodyUsesAndLeavesWhatIsBeingSent() throws Exception {
        CachedFile idle = load("big");
        CachedFile sent = load("big");
        CachedFile small = load("small");
        cache.put(key("idle"), idle);
        cache.put(key("sent"), sent);
        cache.put(key("small"), small);
        sent.retain();

        assertThat(cache.releaseDescriptors()).isTrue();

        assertThat(isOpen(idle)).isFalse();
        assertThat(isOpen(sent)).isTrue();
        assertThat(cache.get(key("small"))).isNotNull();
        assertThat(cache.releaseDescriptors()).as("nothing is left to release").isFalse();
        cache.release(sent);
        assertThat(isOpen(sent)).isFalse();
    }

    @Test
    void load_ofASmallFile_holdsNoDescriptor() throws Exception {
        CachedFile small = load("small");
        assertThat(small.plain.file()).isNull();
        assertThat(small.memoryBytes()).isEqualTo(FileLoader.SMALL_BYTES);
        CachedFile big = load("big");
        assertThat(isOpen(big)).isTrue();
        assertThat(big.memoryBytes()).isZero();
        big.close();
    }

    @Test
    void sweep_whenUnusedForTenSeconds_closes() throws Exception {
        CachedFile file = load("big");
        cache.put(key("big"), file);
        cache.sweep(file.usedNanos + TimeUnit.SECONDS.toNanos(10) - 1);
        assertThat(isOpen(file)).isTrue();
        cache.sweep(file.usedNanos + TimeUnit.SECONDS.toNanos(10));
        assertThat(isOpen(file)).isFalse();
        assertThat(cache.size()).isZero();
        assertThat(cache.openFiles()).isZero();
    }

    @Test
    void remove_whileSent_staysOpenUntilThatIsThrough() throws Exception {
        CachedFile file = load("big");
        cache.put(key("big"), file);
        file.retain();
        cache.remove(key("big"));
        assertThat(isOpen(file)).as("somebody is sending it").isTrue();
        assertThat(cache.get(key("big"))).isNull();
        cache.release(file);
        assertThat(isOpen(file)).isFalse();
    }

    @Test
    void put_ofMoreThanTheMost_closesThoseNotAskedForLongest() throws Exception {
        CachedFile first = load("big");
        CachedFile second = load("big");
        cache.put(key("0"), first);
        cache.put(key("1"), second);
        assertThat(cache.get(key("0"))).isSameAs(first);
        for (int i = 2; i < 257; i++) {
            cache.put(key("" + i), load("big"));
        }
        assertThat(cache.size()).isEqualTo(256);
        assertThat(isOpen(first)).as("it was asked for later").isTrue();
        assertThat(isOpen(second)).isFalse();
    }

    @Test
    void put_ofMoreBytesThanTheMost_forgetsSome() throws Exception {
        byte[] content = new byte[8 << 20];
        for (int i = 0; i < 4; i++) {
            CachedFile like = load("small");
            Representation large =
                    new Representation(like.plain.head(), "\"x\"", content.length, content, null);
            cache.put(
                    key("" + i),
                    new CachedFile(
                            like.path, like.identity, large, null, false, null, false, 0, true));
            assertThat(cache.memoryBytes()).isLessThanOrEqualTo(16 << 20);
        }
        assertThat(cache.size()).isEqualTo(2);
    }

    @Test
    void maxGzipBytes_withLittleFreeMemory_isSmall() throws Exception {
        assertThat(cache.maxGzipBytes()).isEqualTo(FileLoader.MAX_GZIP_BYTES);
        byte[] content = new byte[(15 << 20) + 1];
        CachedFile like = load("small");
        Representation large =
                new Representation(like.plain.head(), "\"x\"", content.length, content, null);
        cache.put(
                key("a"),
                new CachedFile(like.path, like.identity, large, null, false, null, false, 0, true));
        assertThat(cache.maxGzipBytes()).isEqualTo(64 << 10);
        cache.remove(key("a"));
        assertThat(cache.maxGzipBytes()).isEqualTo(FileLoader.MAX_GZIP_BYTES);
    }

    @Test
    void put_afterTheEnd_closes() throws Exception {
        CachedFile late = load("big");
        loop.close();
        cache.put(key("a"), late);
        assertThat(isOpen(late)).isFalse();
        assertThat(cache.openFiles()).isZero();
    }

    @Test
    void put_inPlaceOfAnother_closesThatOne() throws Exception {
        CachedFile before = load("big");
        cache.put(key("a"), before);
        CachedFile after = load("big");
        cache.put(key("a"), after);
        assertThat(isOpen(before)).isFalse();
        assertThat(isOpen(after)).isTrue();
    }

    @Test
    void close_ofTheLoop_closesEverything() throws Exception {
        CachedFile kept = load("big");
        CachedFile sent = load("big");
        cache.put(key("a"), kept);
        cache.put(key("b"), sent);
        sent.retain();
        cache.remove(key("b"));
        loop.close();
        assertThat(isOpen(kept)).isFalse();
        assertThat(isOpen(sent)).isFalse();
    }
}
