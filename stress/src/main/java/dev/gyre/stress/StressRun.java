package dev.gyre.stress;

import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

import java.util.Set;
import java.util.TreeSet;

/// Runs the suite with jcstress's own arguments, and ends with status 0 only if every test had results
/// and no forbidden one.
///
/// jcstress itself fails when a result is forbidden, or when a test throws, hangs or breaks its JVM. It
/// does not fail when there was nothing to run: no test that matches, no JVM that starts, fewer
/// processors than actors. That is made up for here.
public final class StressRun {
    private StressRun() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        if (!options.parse()) {
            System.exit(2);
        }
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
        DiskReadCollector reader = new DiskReadCollector(resultFile, results);
        reader.dump();
        reader.close();

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
}
