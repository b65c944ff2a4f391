package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import static java.util.Map.entry;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import dev.gyre.Clause;
import dev.gyre.internal.backend.BackendContract;
import dev.gyre.io.OperationContract;
import dev.gyre.io.OperationEndsContract;
import dev.gyre.io.OperationFixture;
import dev.gyre.io.OperationMisuseContract;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Keeps `docs/MATRIX.md` honest: no test counts for a backend that it did not run on, and those that can run
/// on several do.
class MatrixPlanTest {
    private static final Path MODULE = Path.of(System.getProperty("gyre.root"), "core");

    private static final Pattern OPENS_A_LOOP =
            Pattern.compile("EventLoop\\.open\\(|GuardedLoop\\.open\\(|extends WatcherFixture\\b");

    /// Classes that open loops without naming a backend and still run once only, and why.
    private static final Map<String, String> ONCE =
            Map.ofEntries(
                    entry("BackendsTest", "it is about the choice itself"),
                    entry("FlightEventsTest", "it tests the recorder, not a kernel"),
                    entry("HandshakeExecutorTest", "it tests a queue, not a kernel"),
                    entry("MemoryBudgetTest", "it tests a budget, not a kernel"),
                    entry("NameLookupTest", "it is about names, not about a kernel"),
                    entry("OperationAllocationTest", "it opens loops on both itself"),
                    entry("ProxyShutdownTest", "it opens loops on both itself"),
                    entry("StreamAllocationTest", "it opens loops on both itself"),
                    entry("StreamShutdownTest", "it opens loops on both itself"),
                    entry(
                            "TlsPeersTest",
                            "its peers are processes; TlsStreamContract runs on both"),
                    entry("TlsTransportTest", "its wires are in memory"),
                    entry("WatcherDifferentialTest", "it opens loops on both itself"),
                    entry("ProducersStressTest", "it takes long; IngressContract has producers"));

    private static final JavaClasses TESTS =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.OnlyIncludeTests())
                    .importPackages("dev.gyre");

    @Test
    @Clause("B-1")
    void contracts_runOverAllBackendsOfThisModule() {
        for (Class<?> contract :
                List.of(
                        Conformance.class,
                        BackendContract.class,
                        OperationContract.class,
                        OperationEndsContract.class,
                        OperationMisuseContract.class)) {
            Set<String> on = new TreeSet<>();
            for (JavaClass type : TESTS) {
                if (type.isAssignableTo(contract)) {
                    addBackend(type, on);
                }
            }
            assertThat(on)
                    .as("where %s runs; the test kit runs it too", contract.getSimpleName())
                    .containsExactly("epoll", "io_uring", "kqueue");
        }
    }

    private static void addBackend(JavaClass type, Set<String> on) {
        for (Class<?> at = type.reflect(); at != null; at = at.getEnclosingClass()) {
            if (at.isAnnotationPresent(On.class)) {
                on.add(at.getAnnotation(On.class).value());
            }
        }
    }

    @Test
    @Clause("B-1")
    void testsOfOneBackend_sayWhich() {
        List<String> silent = new ArrayList<>();
        for (JavaClass type : TESTS) {
            boolean ofOne =
                    type.getPackageName().startsWith("dev.gyre.internal.backend.")
                            || type.isAssignableTo(BackendContract.class)
                            || type.isAssignableTo(OperationFixture.class)
                            || type.isAssignableTo(Conformance.class);
            if (ofOne
                    && type.isTopLevelClass()
                    && type.getSimpleName().endsWith("Test")
                    && !type.getModifiers().contains(JavaModifier.ABSTRACT)
                    && type.reflect().getAnnotation(On.class) == null) {
                silent.add(type.getSimpleName());
            }
        }
        assertThat(silent)
                .as("tests of one backend, which would count for the default: mark them @On(\"…\")")
                .isEmpty();
    }

    @Test
    @Clause("B-1")
    void testsThatOpenLoops_runAgainOnIoUring() throws IOException {
        String pom = Files.readString(MODULE.resolve("pom.xml"));
        List<String> wrong = new ArrayList<>();
        try (Stream<Path> files = Files.walk(MODULE.resolve("src/test/java"))) {
            for (Path file : files.filter(path -> path.toString().endsWith("Test.java")).toList()) {
                String name = file.getFileName().toString().replace(".java", "");
                String source = Files.readString(file);
                boolean again =
                        OPENS_A_LOOP.matcher(source).find()
                                && !source.contains("@On(")
                                && !ONCE.containsKey(name)
                                && !name.equals("MatrixPlanTest");
                if (again != pom.contains("<include>**/" + name + ".java</include>")) {
                    wrong.add(name);
                }
            }
        }
        assertThat(wrong)
                .as(
                        "core/pom.xml, execution again-on-io_uring: tests that open loops without"
                            + " naming a backend belong among its includes, and no others; what is"
                            + " not to run again stands in ONCE, with the reason")
                .isEmpty();
    }
}
