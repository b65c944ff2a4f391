package dev.gyre.http;

import static com.tngtech.archunit.base.DescribedPredicate.anyElementThat;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The plan of this module, as rules. `ARCHITECTURE.md` draws it; this fails when it is no longer true.
class HttpArchitectureTest {
    private static final int MOST_LINES = 450;

    private static final JavaClasses HTTP =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages("dev.gyre.http");

    /// Each room, and all it may know of the others inside.
    private static final Map<String, List<String>> ROOMS =
            Map.of(
                    "message", List.of(),
                    "coding", List.of("message"),
                    "memory", List.of(),
                    "time", List.of(),
                    "body", List.of("message", "memory"),
                    "websocket", List.of("message", "memory", "time"),
                    "client", List.of("message", "memory", "time"),
                    "files", List.of("message", "coding"),
                    "admin", List.of("server"),
                    "server",
                            List.of(
                                    "message",
                                    "memory",
                                    "time",
                                    "coding",
                                    "websocket",
                                    "files",
                                    "body"));

    @Test
    void module_isWrittenAgainstThePublicApi() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "dev.gyre",
                        "dev.gyre.io",
                        "dev.gyre.metrics",
                        "dev.gyre.os",
                        "dev.gyre.http..",
                        "java..",
                        "javax.crypto..",
                        "javax.net.ssl",
                        "org.jspecify.annotations")
                .because("what a stranger could not write is missing in the API: add it there")
                .check(HTTP);
    }

    @Test
    void publicSignatures_leakNoInternalType() {
        methods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAnyPackage("dev.gyre.http", "dev.gyre.http.admin")
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .and()
                .arePublic()
                .should()
                .notHaveRawReturnType(resideInAPackage("..internal.."))
                .andShould()
                .notHaveRawParameterTypes(anyElementThat(resideInAPackage("..internal..")))
                .check(HTTP);
    }

    @Test
    void rooms_knowOnlyThoseTheyMay() {
        ROOMS.forEach(
                (room, known) ->
                        ROOMS.keySet().stream()
                                .filter(other -> !other.equals(room) && !known.contains(other))
                                .forEach(
                                        other ->
                                                noClasses()
                                                        .that()
                                                        .resideInAPackage(
                                                                "dev.gyre.http.internal." + room)
                                                        .should()
                                                        .dependOnClassesThat()
                                                        .resideInAPackage(
                                                                "dev.gyre.http.internal." + other)
                                                        .allowEmptyShould(true)
                                                        .check(HTTP)));
    }

    @Test
    void files_areShortEnoughToRead() throws IOException {
        Path sources =
                Path.of(System.getProperty("gyre.root", ".."), "http", "src", "main", "java");
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                assertThat(Files.readAllLines(file))
                        .as("%s: one idea a file; cut it where the second begins", file)
                        .hasSizeLessThanOrEqualTo(MOST_LINES);
            }
        }
    }
}
