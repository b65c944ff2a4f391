package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

final class ProcessStatsTest {
    @TempDir Path directory;

    @Test
    void figures_asTheKernelWritesThem_areRead() throws IOException {
        Files.writeString(
                directory.resolve("status"), "Name:\tx\nVmRSS:\t   2048 kB\nThreads: 1\n");
        Files.writeString(
                directory.resolve("stat"),
                "42 (a) b (c) S 1 42 42 0 -1 4194304 1 2 3 4 150 50 7 8 20 0 1 0 9 10 11\n");
        Path descriptors = Files.createDirectory(directory.resolve("fd"));
        Files.createFile(descriptors.resolve("0"));
        Files.createFile(descriptors.resolve("1"));

        assertThat(ProcessStats.in(directory))
                .isEqualTo(new ProcessStats(2_097_152, 2_000_000_000L, 2));
    }

    @Test
    void figures_ofThisProcess_arePlausible() {
        ProcessStats figures = ProcessStats.of(ProcessHandle.current().pid());

        assertThat(figures.residentBytes()).isGreaterThan(1_000_000);
        assertThat(figures.cpuNanos()).isPositive();
        assertThat(figures.descriptors()).isGreaterThan(2);
    }

    @Test
    void figures_withoutMemory_sayWhatIsMissing() throws IOException {
        Files.writeString(directory.resolve("status"), "Name:\tkthreadd\n");

        assertThatThrownBy(() -> ProcessStats.in(directory))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("VmRSS");
    }
}
