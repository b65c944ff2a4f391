package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import picocli.CommandLine;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/// `build/Modernize.java`, which makes picocli's classes fit for the start-up cache.
final class ModernizeTest {
    @TempDir private Path directory;

    @Test
    void jarOfOldClasses_isNewAndOtherwiseTheSame() throws Exception {
        Path original = jarOf(CommandLine.class);
        Path lib = Files.createDirectory(directory.resolve("lib"));
        Path jar = Files.copy(original, lib.resolve("picocli.jar"));
        modernize(lib);

        Map<String, byte[]> before = contents(original);
        Map<String, byte[]> after = contents(jar);
        assertThat(after.keySet()).containsExactlyElementsOf(before.keySet());
        before.forEach((name, content) -> assertSame(name, content, after.get(name)));
        assertVerified(jar);

        byte[] once = Files.readAllBytes(jar);
        modernize(lib);
        assertThat(Files.readAllBytes(jar)).as("a second run has nothing to do").isEqualTo(once);
        assertThat(directory).isDirectoryNotContaining(each -> !each.equals(lib));
    }

    private static void assertSame(String name, byte[] before, byte[] after) {
        if (!name.endsWith(".class") || name.contains("META-INF")) {
            assertThat(after).as(name).isEqualTo(before);
            return;
        }
        ClassModel old = ClassFile.of().parse(before);
        ClassModel mended = ClassFile.of().parse(after);
        assertThat(mended.majorVersion())
                .as("%s: the start-up cache takes Java 6 and newer", name)
                .isGreaterThanOrEqualTo(ClassFile.JAVA_6_VERSION);
        assertThat(members(mended)).as(name).isEqualTo(members(old));
    }

    /// Names, types, flags, generic signatures and annotations, but for the code itself.
    private static String members(ClassModel model) {
        StringBuilder text = new StringBuilder();
        model.fields().forEach(each -> text.append(each.flags()).append(each).append('\n'));
        model.methods()
                .forEach(
                        each -> {
                            text.append(each.flags()).append(each);
                            each.attributes()
                                    .forEach(of -> text.append(' ').append(of.attributeName()));
                            text.append('\n');
                        });
        model.attributes().forEach(of -> text.append(of.attributeName()).append(' '));
        return text.toString();
    }

    /// A class is verified when it is initialized; of some what they stand on is absent.
    private static void assertVerified(Path jar) throws IOException {
        try (URLClassLoader loader =
                new URLClassLoader(
                        new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
            for (String name : contents(jar).keySet()) {
                if (name.endsWith(".class") && !name.contains("META-INF")) {
                    String type = name.replace('/', '.').replaceFirst("\\.class$", "");
                    assertThat(initialize(type, loader)).as(type).isTrue();
                }
            }
        }
    }

    private static boolean initialize(String type, ClassLoader loader) {
        try {
            return loader.equals(Class.forName(type, true, loader).getClassLoader());
        } catch (ClassNotFoundException e) {
            return false;
        } catch (NoClassDefFoundError e) {
            return true;
        }
    }

    private static Path jarOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static void modernize(Path lib) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                Path.of(System.getProperty("gyre.root"), "build", "Modernize.java")
                                        .toString(),
                                lib.toString())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("status of build/Modernize.java: %s", said).isZero();
    }

    private static Map<String, byte[]> contents(Path path) throws IOException {
        Map<String, byte[]> contents = new LinkedHashMap<>();
        try (JarFile jar = new JarFile(path.toFile())) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                contents.put(entry.getName(), jar.getInputStream(entry).readAllBytes());
            }
        }
        return contents;
    }
}
