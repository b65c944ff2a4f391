package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Paths that try to escape. A secret is next to the directory, and in each hidden location.
class HostilePathsTest {
    private static final List<String> HOSTILE =
            List.of(
                    "../secret.txt",
                    "../../secret.txt",
                    "../../../../../../../../etc/passwd",
                    "..",
                    "../",
                    ".",
                    "./",
                    "./open.txt",
                    "././open.txt",
                    "sub/..",
                    "sub/../",
                    "sub/../open.txt",
                    "sub/../../secret.txt",
                    "sub/./../../secret.txt",
                    "%2e%2e/secret.txt",
                    "%2E%2E/secret.txt",
                    "%2e./secret.txt",
                    ".%2e/secret.txt",
                    "%2e%2e%2fsecret.txt",
                    "..%2fsecret.txt",
                    "..%2Fsecret.txt",
                    "sub%2f..%2f..%2fsecret.txt",
                    "sub%2fa.txt",
                    "%2fetc%2fpasswd",
                    "/etc/passwd",
                    "//etc/passwd",
                    "///etc///passwd",
                    "%2f%2fetc/passwd",
                    "..%5csecret.txt",
                    "..%5Csecret.txt",
                    "%5c..%5csecret.txt",
                    "sub%5c..%5c..%5csecret.txt",
                    "%5c%5chost%5cshare",
                    "%252e%252e/secret.txt",
                    "%252e%252e%252fsecret.txt",
                    "..%252fsecret.txt",
                    "%25252e%25252e/secret.txt",
                    "..%c0%afsecret.txt",
                    "%c0%ae%c0%ae/secret.txt",
                    "%e0%80%ae%e0%80%ae/secret.txt",
                    "%f0%80%80%ae/secret.txt",
                    "%uff0e%uff0e/secret.txt",
                    "%ef%bc%8e%ef%bc%8e/secret.txt",
                    "open.txt%00",
                    "open.txt%00.html",
                    "%00",
                    "..%00/secret.txt",
                    "sub/%00/../a.txt",
                    "open.txt/",
                    "open.txt/.",
                    "open.txt/..",
                    "open.txt/../secret.txt",
                    "open.txt/../../secret.txt",
                    "sub//a.txt",
                    "//open.txt",
                    "/open.txt",
                    "sub/%2e/a.txt",
                    "sub/%2e%2e/open.txt",
                    "...",
                    "..../secret.txt",
                    "..;/secret.txt",
                    "..%3b/secret.txt",
                    ".hidden",
                    "%2ehidden",
                    ".git/config",
                    "%2egit/config",
                    "sub/.htpasswd",
                    "sub/%2ehtpasswd",
                    "~/secret.txt",
                    "C:/secret.txt",
                    "C:%5csecret.txt",
                    "file:%2f%2f%2fetc/passwd",
                    "pipe",
                    "proc/self/environ",
                    "%",
                    "%2",
                    "%zz",
                    "%%32%65%%32%65/secret.txt",
                    "open.txt%20",
                    "open.txt%0a",
                    "open.txt%0d%0aX-Injected:%20yes",
                    "%ff%fe",
                    "a".repeat(300),
                    "a/".repeat(2_000));

    @TempDir Path top;
    private Path directory;

    @BeforeEach
    void fill() throws Exception {
        directory = Files.createDirectories(top.resolve("site"));
        Files.createDirectories(directory.resolve("sub"));
        Files.createDirectories(directory.resolve(".git"));
        Files.writeString(directory.resolve("open.txt"), "OPEN");
        Files.writeString(directory.resolve("sub/a.txt"), "OPEN");
        Files.writeString(directory.resolve(".hidden"), "SECRET");
        Files.writeString(directory.resolve(".git/config"), "SECRET");
        Files.writeString(directory.resolve("sub/.htpasswd"), "SECRET");
        Files.writeString(top.resolve("secret.txt"), "SECRET");
        Process made = new ProcessBuilder("mkfifo", directory.resolve("pipe").toString()).start();
        assertThat(made.waitFor()).as("mkfifo is needed for this test").isZero();
    }

    @Clause("H-4")
    @Test
    void get_ofAHostilePath_isNothing() throws Exception {
        assertThat(HOSTILE).hasSizeGreaterThanOrEqualTo(60);
        try (ServedSite site =
                new ServedSite(server -> server.files("/s", directory).files("/", directory))) {
            for (String prefix : List.of("/s/", "/")) {
                for (String path : HOSTILE) {
                    requireRefused(site, prefix + path);
                }
            }
            assertThat(site.get("/s/open.txt").text())
                    .as("the server still serves what it should")
                    .isEqualTo("OPEN");
        }
    }

    private static void requireRefused(ServedSite site, String path) throws IOException {
        var answer = site.get(path);
        assertThat(answer.status())
                .as("GET %s is refused: look at RequestedPath", path)
                .isIn(400, 404, 414);
        assertThat(answer.text())
                .as("GET %s tells nothing of what is elsewhere", path)
                .doesNotContain("SECRET")
                .doesNotContain("OPEN")
                .doesNotContain("root:");
        assertThat(answer.has("X-Injected")).as("GET %s puts no field in", path).isFalse();
    }

    @Clause("H-4")
    @Test
    void get_ofAHiddenName_isServedIfAllowed() throws Exception {
        FilesConfig config = FilesConfig.DEFAULT.withHidden(true);
        try (ServedSite site = new ServedSite(server -> server.files("/s", directory, config))) {
            assertThat(site.get("/s/.hidden").text()).isEqualTo("SECRET");
            assertThat(site.get("/s/../secret.txt").status()).isEqualTo(404);
            assertThat(site.get("/s/..").status()).isEqualTo(404);
            assertThat(site.get("/s/.").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void get_ofAFileThatMayNotBeRead_isForbiddenOrNothing() throws Exception {
        Path closed = Files.writeString(directory.resolve("closed.txt"), "SECRET");
        assertThat(closed.toFile().setReadable(false, false)).isTrue();
        try (ServedSite site = new ServedSite(server -> server.files("/s", directory))) {
            // Root reads it all the same, and the file is in the directory.
            assertThat(site.get("/s/closed.txt").status())
                    .isEqualTo(Files.isReadable(closed) ? 200 : 403);
        }
    }

    // ------------------------------------------------------------------ links

    @Clause("H-4")
    @Test
    void get_throughASymbolicLink_isNothing() throws Exception {
        Files.createSymbolicLink(directory.resolve("out.txt"), top.resolve("secret.txt"));
        Files.createSymbolicLink(directory.resolve("up"), top);
        Files.createSymbolicLink(directory.resolve("in.txt"), directory.resolve("open.txt"));
        Files.createSymbolicLink(directory.resolve("inside"), directory.resolve("sub"));
        Files.createSymbolicLink(directory.resolve("loop"), directory.resolve("loop"));
        Files.createSymbolicLink(directory.resolve("nowhere"), directory.resolve("none"));
        try (ServedSite site = new ServedSite(server -> server.files("/s", directory))) {
            for (String path :
                    List.of(
                            "out.txt",
                            "up/secret.txt",
                            "up/",
                            "up",
                            "in.txt",
                            "inside/a.txt",
                            "inside/",
                            "loop",
                            "loop/x",
                            "nowhere")) {
                var answer = site.get("/s/" + path);
                assertThat(answer.status()).as("GET %s leads through a link", path).isEqualTo(404);
            }
        }
    }

    @Clause("H-4")
    @Test
    void get_throughASymbolicLink_isServedIfAllowed() throws Exception {
        Files.createSymbolicLink(directory.resolve("out.txt"), top.resolve("secret.txt"));
        Files.createSymbolicLink(directory.resolve("inside"), directory.resolve("sub"));
        Files.createSymbolicLink(directory.resolve("loop"), directory.resolve("loop"));
        Files.createSymbolicLink(directory.resolve("device"), Path.of("/dev/zero"));
        FilesConfig config = FilesConfig.DEFAULT.withSymlinks(true);
        try (ServedSite site = new ServedSite(server -> server.files("/s", directory, config))) {
            assertThat(site.get("/s/out.txt").text()).isEqualTo("SECRET");
            assertThat(site.get("/s/inside/a.txt").text()).isEqualTo("OPEN");
            assertThat(site.get("/s/loop").status()).isEqualTo(404);
            assertThat(site.get("/s/device").status()).isEqualTo(404);
            assertThat(site.get("/s/../secret.txt").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void files_ofADirectoryThatIsALink_areServed() throws Exception {
        Path link = Files.createSymbolicLink(top.resolve("current"), directory);
        try (ServedSite site = new ServedSite(server -> server.files("/s", link))) {
            assertThat(site.get("/s/open.txt").text()).isEqualTo("OPEN");
        }
    }
}
