package dev.gyre.http.files;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.ServedSite;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.regex.Pattern;

class ListingTest {
    @TempDir Path directory;

    @BeforeEach
    void fill() throws IOException {
        Files.writeString(directory.resolve("b.txt"), "12345");
        Files.writeString(directory.resolve("<script>alert('x')&\".txt"), "");
        Files.writeString(directory.resolve("javascript:alert(1)"), "");
        Files.writeString(directory.resolve("a b?c#d%41.txt"), "found");
        Files.writeString(directory.resolve(".hidden"), "");
        Files.createDirectories(directory.resolve("zebra/inner"));
        Files.createSymbolicLink(directory.resolve("link"), directory.resolve("b.txt"));
        Files.setLastModifiedTime(
                directory.resolve("b.txt"), FileTime.from(Instant.parse("2026-01-02T03:04:05Z")));
    }

    private ServedSite site(FilesConfig config) {
        return new ServedSite(server -> server.files("/s", directory, config));
    }

    @Clause("H-4")
    @Test
    void listing_ofADirectory_isSortedAndSaysSizesAndDates() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT.withListing(true))) {
            var answer = site.get("/s/");
            assertThat(answer.field("Content-Type")).isEqualTo("text/html; charset=utf-8");
            String page = new String(answer.content(), UTF_8);
            assertThat(page.indexOf("zebra/"))
                    .as("directories first")
                    .isPositive()
                    .isLessThan(page.indexOf(">b.txt<"));
            assertThat(page.indexOf("a b?c")).isLessThan(page.indexOf(">b.txt<"));
            assertThat(page).contains("2026-01-02 03:04").contains(">5<");
            assertThat(page)
                    .doesNotContain(".hidden")
                    .doesNotContain(">link<")
                    .doesNotContain("../");
            assertThat(new String(site.get("/s/zebra/").content(), UTF_8))
                    .contains("href=\"../\"")
                    .contains("inner/");
        }
    }

    @Clause("H-4")
    @Test
    void listing_ofNamesMeantToHarm_isEscaped() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT.withListing(true))) {
            String page = new String(site.get("/s/").content(), UTF_8);
            assertThat(page).doesNotContain("<script>").doesNotContain("href=\"javascript:");
            assertThat(page).contains("&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;.txt");
            assertThat(page).contains("href=\"javascript%3Aalert%281%29\"");
        }
    }

    @Clause("H-4")
    @Test
    void listing_hasLinksThatLeadToTheFiles() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT.withListing(true))) {
            String page = new String(site.get("/s/").content(), UTF_8);
            var links = Pattern.compile("href=\"([^\"]+)\"").matcher(page);
            int found = 0;
            while (links.find()) {
                found++;
                assertThat(site.get("/s/" + links.group(1)).status())
                        .as(links.group(1))
                        .isEqualTo(200);
            }
            assertThat(found).isEqualTo(5);
        }
    }

    @Clause("H-4")
    @Test
    void listing_ofHiddenNamesAndLinks_isThereIfTheyAreServed() throws Exception {
        FilesConfig config =
                FilesConfig.DEFAULT.withListing(true).withHidden(true).withSymlinks(true);
        try (ServedSite site = site(config)) {
            assertThat(new String(site.get("/s/").content(), UTF_8))
                    .contains(".hidden")
                    .contains(">link<");
        }
    }

    @Clause("H-4")
    @Test
    void listing_isNotThereUnlessAskedFor() throws Exception {
        try (ServedSite site = site(FilesConfig.DEFAULT)) {
            assertThat(site.get("/s/").status()).isEqualTo(404);
        }
    }

    @Clause("H-4")
    @Test
    void listing_ofMoreThanAreShown_hasTheFirstAndSaysHowManyAreLeft() throws Exception {
        Path many = Files.createDirectories(directory.resolve("many"));
        for (int i = 0; i < 10_003; i++) {
            Files.createFile(many.resolve("f%05d".formatted((i * 7_919) % 10_003)));
        }
        Files.createDirectory(many.resolve("zoo"));
        try (ServedSite site = site(FilesConfig.DEFAULT.withListing(true))) {
            var answer = site.get("/s/many/");
            assertThat(answer.field("X-Content-Type-Options")).isEqualTo("nosniff");
            String page = answer.text();
            assertThat(page)
                    .contains(">zoo/<", ">f00000<", ">f09998<")
                    .contains("<p>and 4 more</p>")
                    .doesNotContain(">f09999<", ">f10002<");
        }
    }

    @Clause("H-4")
    @Test
    void listing_ofNamesTooLongForOnePage_hasTheFirstAndSaysHowManyAreLeft() throws Exception {
        Path many = Files.createDirectories(directory.resolve("many"));
        // Each is five times as long in the text, and three times in the link.
        String harmful = "'".repeat(240);
        int count = 4_300;
        for (int i = 0; i < count; i++) {
            Files.createFile(many.resolve(harmful + i));
        }
        try (ServedSite site = site(FilesConfig.DEFAULT.withListing(true))) {
            var answer = site.get("/s/many/");
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.content().length).isBetween(4_000_000, 4 << 20);
            String page = answer.text();
            int shown = page.split("<td><a href=\"%27", -1).length - 1;
            assertThat(shown).isPositive();
            assertThat(page)
                    .contains("<p>and " + (count - shown) + " more</p>")
                    .endsWith("</html>\n");
        }
    }

    @Clause("H-4")
    @Test
    void listing_ofANameThatIsNoText_hasNoLinkThatLeadsElsewhere() throws Exception {
        String script = "touch \"$(printf 'odd-\\377')\"";
        Process made = new ProcessBuilder("sh", "-c", script).directory(directory.toFile()).start();
        assertThat(made.waitFor()).isZero();
        try (ServedSite site = site(FilesConfig.DEFAULT.withListing(true))) {
            String page = new String(site.get("/s/").content(), UTF_8);
            assertThat(page).contains("<td>odd-").doesNotContain("href=\"odd-");
        }
    }
}
