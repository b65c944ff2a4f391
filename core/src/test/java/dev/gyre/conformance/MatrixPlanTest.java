package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import dev.gyre.internal.backend.BackendContract;
import dev.gyre.io.OperationFixture;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
            Map.of(
                    "BackendsTest", "it is about the choice itself",
                    "ProducersStressTest", "it takes long, and IngressContract has producers too");

    @Test
    void testsOfOneBackend_sayWhich() {
        List<String> silent = new ArrayList<>();
        for (JavaClass type :
                new ClassFileImporter()
                        .withImportOption(new ImportOption.OnlyIncludeTests())
                        .importPackages("dev.gyre")) {
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
