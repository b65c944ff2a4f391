package dev.gyre.conformance;

import dev.gyre.Clause;
import dev.gyre.EventLoop;

import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Notes which clauses were shown to hold on which backend, for `docs/MATRIX.md`: every test with a [Clause]
/// that succeeded, on the backend that its class is [On]. Several runs of one method count once.
///
/// The result goes to the file that the property `gyre.matrix.file` names, if the whole suite was run: the
/// results of a chosen test (`-Dtest=…`) would look like the loss of all others.
public final class MatrixListener implements TestExecutionListener {
    static final String FILE = "gyre.matrix.file";

    private record Row(String backend, String clause, String test) {
        String line(String outcome) {
            return String.join(",", backend, clause, test, outcome);
        }
    }

    // Shared: guarded by this. JUnit may report from several threads.
    private final Set<Row> succeeded = new HashSet<>();
    private final Set<Row> skipped = new HashSet<>();
    private final Set<Row> failed = new HashSet<>();
    private @Nullable TestPlan plan;
    private String byDefault = "";

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan plan) {
        this.plan = plan;
    }

    @Override
    public synchronized void executionFinished(
            TestIdentifier identifier, TestExecutionResult result) {
        if (identifier.isTest()) {
            note(
                    identifier,
                    switch (result.getStatus()) {
                        case Status.SUCCESSFUL -> succeeded;
                        case Status.ABORTED -> skipped;
                        case Status.FAILED -> failed;
                    });
        }
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier identifier, String reason) {
        note(identifier, skipped);
    }

    private void note(TestIdentifier identifier, Set<Row> outcome) {
        if (!(identifier.getSource().orElse(null) instanceof MethodSource source)) {
            return;
        }
        Method method = source.getJavaMethod();
        Clause clauses = method.getAnnotation(Clause.class);
        if (clauses != null) {
            List<Class<?>> classes = classesAround(identifier);
            String backend = backendOf(classes);
            String test = classes.getLast().getSimpleName() + "." + method.getName();
            for (String clause : clauses.value()) {
                outcome.add(new Row(backend, clause, test));
            }
        }
    }

    /// The class that is run and those it is nested in, from the inside out: a class that is nested in an
    /// abstract one is run inside each of its subclasses.
    private List<Class<?>> classesAround(TestIdentifier test) {
        TestPlan of = Objects.requireNonNull(plan, "no plan was begun");
        List<Class<?>> found = new ArrayList<>();
        for (var at = Optional.of(test); at.isPresent(); at = of.getParent(at.get())) {
            if (at.get().getSource().orElse(null) instanceof ClassSource source) {
                found.add(source.getJavaClass());
            }
        }
        return found;
    }

    private String backendOf(List<Class<?>> classes) {
        for (Class<?> type : classes) {
            On on = type.getAnnotation(On.class);
            if (on != null) {
                return on.value();
            }
        }
        if (byDefault.isEmpty()) {
            try (EventLoop loop = EventLoop.open()) {
                byDefault = loop.metrics().backend();
            }
        }
        return byDefault;
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan plan) {
        String file = System.getProperty(FILE);
        if (file == null || System.getProperty("test") != null) {
            return;
        }
        succeeded.removeAll(failed);
        skipped.removeAll(succeeded);
        skipped.removeAll(failed);
        Set<String> lines = new TreeSet<>();
        succeeded.forEach(row -> lines.add(row.line("ran")));
        skipped.forEach(row -> lines.add(row.line("skipped")));
        try {
            Files.write(Path.of(file), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
