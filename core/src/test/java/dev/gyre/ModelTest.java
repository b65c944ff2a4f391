package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs the model checker over `docs/model/`: every property holds, and every planted mistake is
/// found. With the system property `gyre.model` set to `all` also the longest searches are made.
class ModelTest {
    private static final int NO_SPIN = 3;

    @Test
    @Timeout(value = 8, unit = TimeUnit.MINUTES)
    @Clause({"Q-5", "Q-6"})
    void modelOfCheckThenSleep_isVerifiedAndCatchesItsMutants()
            throws IOException, InterruptedException {
        Path check = Path.of(System.getProperty("gyre.root"), "docs", "model", "check");
        List<String> command =
                System.getProperty("gyre.model", "quick").equals("all")
                        ? List.of(check.toString())
                        : List.of(check.toString(), "--quick");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        // On a developer's machine without spin there is nothing to run; CI installs it and must.
        assumeTrue(
                status != NO_SPIN || System.getenv("CI") != null,
                "spin is not installed (apt-get install spin): docs/model/check was not run");
        assertThat(status).as(output).isZero();
    }
}
