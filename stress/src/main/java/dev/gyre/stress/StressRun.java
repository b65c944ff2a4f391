package dev.gyre.stress;

import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.TreeSet;

/// Runs the suite with jcstress's own arguments, and ends with status 0 only if every test had results
/// and no forbidden one.
///
/// jcstress itself fails when a result is forbidden, or when a test throws, hangs or breaks its JVM. It
/// does not fail when there was nothing to run: no test that matches, no JVM that starts, fewer
/// processors than actors. And it waits for ever when a test hangs in its very first try, before time
/// is taken. That is made up for here.
public final class StressRun {
    /// For a JVM to start and to try the test out, on a machine that has other work.
    private static final Duration TRIAL = Duration.ofMinutes(2);

    private static final Duration GLANCE = Duration.ofSeconds(1);

    private StressRun() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        if (!options.parse()) {
            System.exit(2);
        }
        Duration planned = Duration.ofMillis((long) options.getIterations() * options.getTime());
        endHungTests(TRIAL.plus(planned.multipliedBy(3)));
        JCStress jcstress = new JCStress(options);
        try {
            jcstress.run();
            requireResults(jcstress.getTests(), options.getResultFile());
        } catch (AssertionError e) {
            System.out.flush();
            System.err.println(e.getMessage());
            System.exit(1);
        }
    }

    private static void requireResults(Set<String> tests, String resultFile) throws Exception {
        if (tests.isEmpty()) {
            throw new AssertionError("NO TESTS: none matches");
        }
        InProcessCollector results = new InProcessCollector();
        if (Files.exists(Path.of(resultFile))) {
            DiskReadCollector reader = new DiskReadCollector(resultFile, results);
            reader.dump();
            reader.close();
        }

        Set<String> silent = new TreeSet<>(tests);
        long samples = 0;
        for (TestResult result : results.getTestResults()) {
            samples += result.getTotalCount();
            if (result.status() == Status.NORMAL && result.getTotalCount() > 0) {
                silent.remove(result.getName());
            }
        }
        if (!silent.isEmpty()) {
            throw new AssertionError("NO RESULTS from " + silent);
        }
        System.out.printf("%d tests passed, %,d samples%n", tests.size(), samples);
    }

    /// Each test runs in a JVM of its own: ends those that take too long, which jcstress reports as an
    /// error of the test.
    private static void endHungTests(Duration most) {
        Thread.ofPlatform()
                .daemon()
                .name("end of hung tests")
                .start(
                        () -> {
                            while (true) {
                                try {
                                    Thread.sleep(GLANCE);
                                } catch (InterruptedException e) {
                                    return;
                                }
                                Instant latest = Instant.now().minus(most);
                                ProcessHandle.current()
                                        .children()
                                        .filter(child -> hasStartedBefore(child, latest))
                                        .forEach(ProcessHandle::destroyForcibly);
                            }
                        });
    }

    private static boolean hasStartedBefore(ProcessHandle process, Instant instant) {
        return process.info().startInstant().map(start -> start.isBefore(instant)).orElse(false);
    }
}
