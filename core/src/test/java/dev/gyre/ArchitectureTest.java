package dev.gyre;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.members;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import static org.assertj.core.api.Assertions.assertThat;

import static java.util.Map.entry;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.Linker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;

/// The structure of the code, as rules. `ARCHITECTURE.md` describes it.
class ArchitectureTest {
    private static final JavaClasses CORE =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .importPackages("dev.gyre");

    @Test
    void core_dependsOnNothingButTheJdkAtRunTime() {
        holds(
                classes()
                        .should()
                        .onlyDependOnClassesThat()
                        .resideInAnyPackage(
                                "dev.gyre..",
                                "java..",
                                "javax.crypto..",
                                "javax.net.ssl",
                                "javax.security.auth.x500",
                                "jdk.jfr",
                                "org.jspecify.annotations")
                        .because("core has no runtime dependency; JSpecify is compile-time only"));
    }

    /// Each internal package, and the other ones that it may depend on.
    private static final Map<String, List<String>> PACKAGES =
            Map.ofEntries(
                    entry("sys", List.of("base")),
                    entry("base", List.of()),
                    entry("time", List.of("base")),
                    entry("promise", List.of("base", "time")),
                    entry("cancel", List.of("base")),
                    entry("backend", List.of("base", "sys")),
                    entry("io", List.of("backend", "base", "sys")),
                    entry("loop", List.of("promise", "base", "io", "time", "backend", "sys")),
                    entry("os", List.of("loop", "io", "backend", "base", "sys")),
                    entry("tls", List.of("base")),
                    entry("group", List.of("loop", "base", "sys", "time")),
                    entry(
                            "net",
                            List.of(
                                    "tls", "group", "loop", "io", "backend", "base", "time",
                                    "sys")));

    @Test
    void dependencies_pointOneWay_fromOsToLoopToBackendToSys() {
        PACKAGES.forEach(
                (name, known) -> {
                    String[] others =
                            PACKAGES.keySet().stream()
                                    .filter(other -> !other.equals(name) && !known.contains(other))
                                    .map(other -> "dev.gyre.internal." + other + "..")
                                    .toArray(String[]::new);
                    holds(
                            noClasses()
                                    .that()
                                    .resideInAPackage("dev.gyre.internal." + name + "..")
                                    .should()
                                    .dependOnClassesThat()
                                    .resideInAnyPackage(others));
                });
    }

    @Test
    void packages_areAllListed() {
        holds(
                classes()
                        .that()
                        .resideInAPackage("dev.gyre.internal..")
                        .should()
                        .resideInAnyPackage(
                                PACKAGES.keySet().stream()
                                        .map(name -> "dev.gyre.internal." + name + "..")
                                        .toArray(String[]::new)));
    }

    @Test
    void backends_areKnownOnlyWhereOneIsChosen() {
        for (String backend : List.of("epoll", "kqueue", "uring")) {
            String name = "dev.gyre.internal.backend." + backend;
            holds(
                    noClasses()
                            .that()
                            .resideOutsideOfPackage(name)
                            .and()
                            .doNotHaveSimpleName("Backends")
                            .should()
                            .dependOnClassesThat()
                            .resideInAPackage(name)
                            .because("nothing above the Backend contract can tell which it is on"));
        }
    }

    @Test
    void linker_isKnownInOnePackage() {
        holds(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("dev.gyre.internal.sys")
                        .should()
                        .dependOnClassesThat()
                        .areAssignableTo(Linker.class));
        holds(
                noClasses()
                        .that()
                        .resideOutsideOfPackages(
                                "dev.gyre.internal.sys..", "dev.gyre.internal.backend..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("java.lang.foreign"));
    }

    @Test
    void exportedPackages_haveOnlyPublicTypes() throws IOException {
        holds(
                classes()
                        .that()
                        .resideInAnyPackage(exportedPackages())
                        .and()
                        .areTopLevelClasses()
                        .and()
                        .haveSimpleNameNotContaining("package-info")
                        .should()
                        .bePublic()
                        .because("implementation classes belong in dev.gyre.internal"));
    }

    @Test
    void publicMembers_mentionNoInternalType() throws IOException {
        holds(
                members()
                        .that()
                        .areDeclaredInClassesThat()
                        .resideInAnyPackage(exportedPackages())
                        .and(areVisibleToUsers())
                        .should(mentionNoInternalType()));
    }

    /// The packages that the module exports to every other module.
    private static String[] exportedPackages() throws IOException {
        Path root = Path.of(System.getProperty("gyre.root"));
        Pattern exports = Pattern.compile("^ *exports ([a-z.]+);$", Pattern.MULTILINE);
        return exports.matcher(
                        Files.readString(root.resolve("core/src/main/java/module-info.java")))
                .results()
                .map(found -> found.group(1))
                .toArray(String[]::new);
    }

    private static DescribedPredicate<JavaMember> areVisibleToUsers() {
        return DescribedPredicate.describe(
                "are visible to users",
                member ->
                        isVisible(member.getModifiers())
                                && Stream.iterate(
                                                Optional.of(member.getOwner()),
                                                Optional::isPresent,
                                                owner ->
                                                        owner.flatMap(JavaClass::getEnclosingClass))
                                        .allMatch(
                                                owner ->
                                                        isVisible(
                                                                owner.orElseThrow()
                                                                        .getModifiers())));
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC)
                || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static ArchCondition<JavaMember> mentionNoInternalType() {
        return new ArchCondition<>("mention no internal type") {
            @Override
            public void check(JavaMember member, ConditionEvents events) {
                for (JavaClass type : member.getAllInvolvedRawTypes()) {
                    if (type.getPackageName().contains(".internal")) {
                        events.add(
                                SimpleConditionEvent.violated(
                                        member, member.getFullName() + " mentions " + type));
                    }
                }
            }
        };
    }

    @Test
    void names_avoidWordsThatSayNothing() {
        holds(
                noClasses()
                        .that()
                        .areNotAssignableTo(KeyManager.class) // The JDK's own words.
                        .and()
                        .areNotAssignableTo(TrustManager.class)
                        .should()
                        .haveSimpleNameEndingWith("Manager")
                        .orShould()
                        .haveSimpleNameEndingWith("Util")
                        .orShould()
                        .haveSimpleNameEndingWith("Utils")
                        .orShould()
                        .haveSimpleNameEndingWith("Helper")
                        .orShould()
                        .haveSimpleNameEndingWith("Impl"));
    }

    @Test
    void classes_areFinalUnlessMadeToBeExtended() {
        holds(
                classes()
                        .that()
                        .areTopLevelClasses()
                        .and()
                        .doNotHaveModifier(JavaModifier.ABSTRACT) // Also interfaces.
                        .and()
                        .areNotEnums()
                        .and()
                        .haveSimpleNameNotContaining("package-info")
                        .and(DescribedPredicate.not(sealed()))
                        .should()
                        .haveModifier(JavaModifier.FINAL));
    }

    private static DescribedPredicate<JavaClass> sealed() {
        return DescribedPredicate.describe("sealed", type -> type.reflect().isSealed());
    }

    @Test
    void files_stayReadable() throws IOException {
        Path root = Path.of(System.getProperty("gyre.root"));
        List<String> tooLong = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root.resolve("core/src/main"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                int lines = Files.readAllLines(file).size();
                if (lines > 450) {
                    tooLong.add(root.relativize(file) + ": " + lines);
                }
            }
        }
        assertThat(tooLong).as("files over 450 lines: split them").isEmpty();
    }

    private static void holds(ArchRule rule) {
        rule.allowEmptyShould(false).check(CORE);
    }
}
