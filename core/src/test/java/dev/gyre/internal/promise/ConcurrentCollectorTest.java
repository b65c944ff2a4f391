package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// With a concurrent collector, scanning an entry must not mark its promise as live.
class ConcurrentCollectorTest {
    @Test
    @Timeout(120)
    @Clause("R-1")
    void promise_droppedWhileTheLoopIsBusy_isCollectedByAConcurrentCollector()
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseZGC",
                                "-Xmx128m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                DroppedPromiseProgram.class.getName())
                        .redirectErrorStream(true)
                        .start();
        String said =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertThat(process.waitFor()).as("exit status; it said: %s", said).isZero();
        assertThat(said)
                .as("kept: does the registry ask its references for the promises (get)?")
                .isEqualTo("collected");
    }
}
