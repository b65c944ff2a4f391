package dev.gyre.testkit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The structure of the test kit.
class TestkitArchitectureTest {
    private static final JavaClasses KIT =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages("dev.gyre.testkit");

    @Test
    void testkit_dependsOnTheCoreAlone() {
        classes()
                .that()
                .resideInAPackage("dev.gyre.testkit..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("dev.gyre..", "java..", "org.jspecify.annotations")
                .check(KIT);
    }

    @Test
    void publicMethods_mentionNoInternalType() {
        methods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAPackage("dev.gyre.testkit")
                .and()
                .arePublic()
                .should(
                        new ArchCondition<JavaMethod>("mention no internal type") {
                            @Override
                            public void check(JavaMethod method, ConditionEvents events) {
                                boolean leaks =
                                        Stream.concat(
                                                        method.getRawParameterTypes().stream(),
                                                        Stream.of(method.getRawReturnType()))
                                                .anyMatch(
                                                        type ->
                                                                type.getPackageName()
                                                                        .contains(".internal"));
                                if (leaks) {
                                    events.add(
                                            SimpleConditionEvent.violated(
                                                    method, method.getFullName()));
                                }
                            }
                        })
                .check(KIT);
    }

    @Test
    void files_stayReadable() throws IOException {
        Path root = Path.of(System.getProperty("gyre.root"));
        List<String> tooLong = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root.resolve("testkit/src/main"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                int lines = Files.readAllLines(file).size();
                if (lines > 450) {
                    tooLong.add(root.relativize(file) + ": " + lines);
                }
            }
        }
        assertThat(tooLong).as("files over 450 lines: would two be clearer than one?").isEmpty();
    }
}
