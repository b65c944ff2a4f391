package dev.gyre.http.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Inputs that a fuzzer found worth keeping, because each takes a way of its own through the code.
class KeptInputsTest {
    private static final Path KEPT = Path.of("src/test/resources/fuzz");

    static Stream<Arguments> targets() {
        return Stream.of(
                target("ChunkFuzz", ChunkFuzz::fuzzerTestOneInput),
                target("FrameFuzz", FrameFuzz::fuzzerTestOneInput),
                target("InflateFuzz", InflateFuzz::fuzzerTestOneInput),
                target("MultipartFuzz", MultipartFuzz::fuzzerTestOneInput),
                target("RequestFuzz", RequestFuzz::fuzzerTestOneInput),
                target("ResponseFuzz", ResponseFuzz::fuzzerTestOneInput));
    }

    private static Arguments target(String name, Consumer<byte[]> target) {
        return Arguments.of(name, target);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("targets")
    void input_thatWasKept_isNoFinding(String name, Consumer<byte[]> target) throws IOException {
        List<Path> inputs;
        try (Stream<Path> files = Files.list(KEPT.resolve(name))) {
            inputs = files.sorted().toList();
        }
        assertThat(inputs)
                .as("inputs for %s: http/src/conformance/README.md says how to make some", name)
                .isNotEmpty();
        for (Path input : inputs) {
            byte[] bytes = Files.readAllBytes(input);
            try {
                target.accept(bytes);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("a finding: run " + name + " with " + input + " alone", e);
            }
        }
    }
}
