package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.os.FileChange;
import dev.gyre.os.FileChange.Kind;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

final class ChangeLineTest {
    private static final Instant TIME = Instant.parse("2026-03-01T23:59:58.0071Z");

    @Test
    void text_ofAChange_hasLocalTimeKindAndPath() {
        FileChange change = new FileChange(Kind.CREATED, Path.of("src/Main.java"));

        assertThat(text(change)).isEqualTo("23:59:58.007  CREATED   src/Main.java");
        assertThat(ChangeLine.text(TIME, ZoneId.of("Asia/Kolkata"), change))
                .startsWith("05:29:58.007");
    }

    @Test
    void text_ofAMove_hasBothPaths() {
        assertThat(text(new FileChange(Kind.MOVED, Path.of("b"), Path.of("a"))))
                .isEqualTo("23:59:58.007  MOVED     a -> b");
    }

    @Test
    void text_ofAnOverflow_saysWhatItMeans() {
        assertThat(text(new FileChange(Kind.OVERFLOW, Path.of("src"))))
                .isEqualTo("23:59:58.007  OVERFLOW  src  (changes here were missed)");
    }

    @Test
    void text_ofAnyName_staysOnItsLineAndOffTheTerminalsControls() {
        assertThat(text(new FileChange(Kind.DELETED, Path.of("a\nb\u001b[2J\u007f"))))
                .endsWith("  a\\u000ab\\u001b[2J\\u007f");
    }

    @Test
    void json_ofAnyName_isEscaped() {
        assertThat(ChangeLine.json(TIME, new FileChange(Kind.WRITTEN, Path.of("a\"b\\c\td"))))
                .isEqualTo(
                        "{\"time\":\"2026-03-01T23:59:58.007Z\",\"kind\":\"WRITTEN\","
                                + "\"path\":\"a\\\"b\\\\c\\u0009d\"}");
    }

    @Test
    void json_ofAMove_hasFrom() {
        assertThat(ChangeLine.json(TIME, new FileChange(Kind.MOVED, Path.of("b"), Path.of("a"))))
                .endsWith("\"path\":\"b\",\"from\":\"a\"}");
    }

    private static String text(FileChange change) {
        return ChangeLine.text(TIME, ZoneOffset.UTC, change);
    }
}
