package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class VerdictTest {
    private static final int MILLION = 1_000_000;

    @Test
    void verdict_withinAllLimits_passesInOneLine() {
        Verdict verdict =
                new Verdict(
                        LoadKind.ECHO,
                        10_000,
                        0,
                        0,
                        0,
                        80L * MILLION,
                        0.02,
                        90L * MILLION,
                        99L * MILLION,
                        49_999_999);

        assertThat(verdict.isPass()).isTrue();
        assertThat(verdict)
                .hasToString(
                        "PASS 10000 connections, none dropped, p99 50.0 ms, server 80.0 MB idle");
    }

    @Test
    void verdict_withEverythingMissed_namesEachLimit() {
        Verdict verdict =
                new Verdict(
                        LoadKind.ECHO,
                        10_000,
                        3,
                        5,
                        1,
                        81L * MILLION,
                        0.5,
                        100L * MILLION,
                        111L * MILLION,
                        1_200L * MILLION);

        assertThat(verdict.isPass()).isFalse();
        assertThat(verdict)
                .hasToString(
                        "FAIL 10000 connections: 3 dropped (limit 0); 5 messages lost (limit 0); 1"
                                + " invalid responses (limit 0); server 81.0 MB idle (limit 80.0"
                                + " MB); 50.0 % of a core idle (limit 2.0 %); memory grew by 11.0 %"
                                + " under load (limit 10.0 %); p99 1.20 s (limit 50.0 ms)");
    }

    @Test
    void verdict_atTheLimitOfLatency_fails() {
        Verdict verdict =
                new Verdict(LoadKind.ECHO, 1, 0, 0, 0, MILLION, 0, MILLION, MILLION, 50L * MILLION);

        assertThat(verdict.misses()).containsExactly("p99 50.0 ms (limit 50.0 ms)");
    }

    @Test
    void verdict_ofMemoryThatShrinks_isNoGrowth() {
        Verdict verdict =
                new Verdict(LoadKind.ECHO, 1, 0, 0, 0, MILLION, 0, 2L * MILLION, MILLION, 1);

        assertThat(verdict.isPass()).isTrue();
    }

    @Test
    void verdict_ofAWebServer_hasLimitsOfItsOwn() {
        long size = 300L * MILLION;
        Verdict good = new Verdict(LoadKind.HTTP, 1, 0, 0, 0, size, 0, size, size, 99_999_999);
        Verdict late =
                new Verdict(LoadKind.HTTP, 1, 0, 0, 0, size, 0, size, 2 * size, 100L * MILLION);

        assertThat(good.misses()).isEmpty();
        assertThat(late.misses())
                .containsExactly(
                        "memory grew by 100.0 % under load (limit 10.0 %)",
                        "p99 100 ms (limit 100 ms)");
    }
}
