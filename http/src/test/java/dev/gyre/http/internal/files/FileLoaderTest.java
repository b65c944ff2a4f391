package dev.gyre.http.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.http.FilesConfig;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;

/// Lookups of files that change during the lookup.
class FileLoaderTest {
    private static final Instant WRITTEN = Instant.parse("2026-01-02T03:04:05.5Z");

    @TempDir Path directory;
    private Path root;

    @BeforeEach
    void fill() throws IOException {
        root = directory.toRealPath();
        Files.writeString(root.resolve("a.txt"), "old");
    }

    private FileLoader loader(Function<Path, Descriptor> open, Instant now) {
        FileOpener opener = new FileOpener(false, open);
        return new FileLoader(root, FilesConfig.DEFAULT, true, opener, InstantSource.fixed(now));
    }

    private static Descriptor opened(Path path) {
        return Descriptor.open(path, StandardOpenOption.READ);
    }

    private static FileLoader.Result load(FileLoader loader, int maxGzipBytes) throws IOException {
        return loader.load(new RequestedPath(List.of("a.txt"), false), maxGzipBytes);
    }

    // ------------------------------------------------------------------ replaced during the open

    /// Opens a file and then replaces it, this many times.
    private Function<Path, Descriptor> replacing(int times) {
        int[] left = {times};
        return path -> {
            Descriptor file = opened(path);
            if (left[0]-- > 0) {
                try {
                    Path other = Files.writeString(root.resolve("other"), "new");
                    Files.move(other, path, StandardCopyOption.ATOMIC_MOVE);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return file;
        };
    }

    @Test
    void load_ofAFileReplacedWhileItIsOpened_isTheOneThatTookItsPlace() throws Exception {
        for (int times : List.of(1, 5)) {
            FileLoader.Result found = load(loader(replacing(times), Instant.now()), 0);
            assertThat(found).isInstanceOf(CachedFile.class);
            assertThat(((CachedFile) found).plain.body()).asString().isEqualTo("new");
        }
    }

    @Test
    void load_ofAFileReplacedWithoutEnd_isRefusedAfterSomeTries() throws Exception {
        assertThat(load(loader(replacing(Integer.MAX_VALUE), Instant.now()), 0))
                .isEqualTo(new FileLoader.Failed(503));
    }

    @Test
    void load_ofAFileRemovedWhileItIsOpened_isNothing() throws Exception {
        Function<Path, Descriptor> removing =
                path -> {
                    Descriptor file = opened(path);
                    try {
                        Files.delete(path);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return file;
                };
        assertThat(load(loader(removing, Instant.now()), 0)).isEqualTo(new FileLoader.Failed(404));
    }

    @Test
    void load_ofAFileThatALinkTakesThePlaceOf_isNothing() throws Exception {
        Path secret = Files.writeString(root.resolve("secret (deleted)"), "secret");
        Function<Path, Descriptor> linking =
                path -> {
                    try {
                        Files.delete(path);
                        Files.createSymbolicLink(path, secret);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return opened(path);
                };
        assertThat(load(loader(linking, Instant.now()), 0)).isEqualTo(new FileLoader.Failed(404));
    }

    // ------------------------------------------------------------------ validators

    private CachedFile loadedAt(Instant now) throws IOException {
        Files.setLastModifiedTime(root.resolve("a.txt"), FileTime.from(WRITTEN));
        return (CachedFile) load(loader(FileLoaderTest::opened, now), 0);
    }

    @Test
    void load_ofAFileThatWasJustWritten_vouchesForNoByte() throws Exception {
        CachedFile young = loadedAt(WRITTEN.plusSeconds(2));
        assertThat(young.plain.etag()).matches("W/\"[0-9a-f-]+\"");
        assertThat(young.plain.head().headers()).doesNotContain("Last-Modified");
        assertThat(young.isSettled).isFalse();
        CachedFile old = loadedAt(WRITTEN.plusSeconds(3));
        assertThat(old.plain.etag()).matches("\"[0-9a-f-]+\"");
        assertThat(old.plain.head().headers())
                .containsSequence("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT");
        assertThat(old.isSettled).isTrue();
    }

    @Test
    void load_ofAFileFromTheFuture_countsFromWhenItCameThere() throws Exception {
        Files.setLastModifiedTime(
                root.resolve("a.txt"), FileTime.from(Instant.parse("2999-01-01T00:00:00Z")));
        Instant later = Instant.now().plusSeconds(100);
        CachedFile file = (CachedFile) load(loader(FileLoaderTest::opened, later), 0);
        assertThat(file.isSettled).isTrue();
        assertThat(file.modified).isEqualTo(later.getEpochSecond());
    }

    // ------------------------------------------------------------------ compressed

    @Test
    void load_ofWhatIsTooLargeToCompressNow_knowsThatItCouldBe() throws Exception {
        Files.writeString(root.resolve("a.txt"), "text ".repeat(20_000));
        FileLoader loader = loader(FileLoaderTest::opened, Instant.now());
        for (int most : List.of(0, 99_999)) {
            CachedFile plain = (CachedFile) load(loader, most);
            assertThat(plain.gzip).isNull();
            assertThat(plain.canCompress).isTrue();
            plain.close();
        }
        CachedFile compressed = (CachedFile) load(loader, 100_000);
        assertThat(compressed.gzip).isNotNull();
        assertThat(compressed.canCompress).isFalse();
        compressed.close();
    }
}
