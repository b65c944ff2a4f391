package dev.gyre.http.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.http.internal.message.Corpus;
import dev.gyre.http.internal.message.Mutations;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// What a fuzzer would do, for a moment and always in the same way.
class FuzzTest {
    private static final int MUTATIONS = 20_000;

    private final List<byte[]> requests =
            Stream.concat(Corpus.requestsTaken().stream(), Corpus.requestsRefused().stream())
                    .map(Corpus.Case::bytes)
                    .toList();

    @Clause("H-1")
    @Test
    void requests_ofTheCorpora_mutated_areTheSameInAllPieces() {
        run(requests, RequestFuzz::fuzzerTestOneInput);
    }

    @Clause("H-1")
    @Test
    void responses_ofTheCorpus_mutated_areTheSameInAllPieces() {
        run(
                Corpus.responses().stream().map(Corpus.Case::bytes).toList(),
                ResponseFuzz::fuzzerTestOneInput);
    }

    @Clause("H-1")
    @Test
    void chunks_ofTheCorpora_mutated_areTheSameInAllPieces() {
        List<byte[]> bodies = new ArrayList<>();
        for (byte[] request : requests) {
            String text = new String(request, ISO_8859_1);
            int body = text.indexOf("\r\n\r\n") + 4;
            if (text.contains("chunked\r\n\r\n") && body < text.length()) {
                bodies.add(text.substring(body).getBytes(ISO_8859_1));
            }
        }
        run(bodies, ChunkFuzz::fuzzerTestOneInput);
    }

    @Clause("H-7")
    @Test
    void multipartBodies_mutated_areTheSameInAllPieces() {
        String a = "Content-Disposition: form-data; name=\"a\"\r\n\r\n";
        String f = "Content-Disposition: form-data; name=f; filename=\"x\\\"y\"\r\nX: y\r\n\r\n";
        List<byte[]> bodies =
                Stream.of(
                                "--b\r\n" + a + "1\r\n--b--",
                                "preamble\r\n--b \t\r\n"
                                        + f
                                        + "\r\n--x\r\n--b\r\n"
                                        + a
                                        + "\r\n--b--",
                                "--b\r\n" + f + "\r\r\n-\r\n--\r\n--b--\r\nepilogue")
                        .map(body -> body.getBytes(ISO_8859_1))
                        .toList();
        run(bodies, 3_000, MultipartFuzz::fuzzerTestOneInput);
    }

    private static void run(List<byte[]> seeds, Consumer<byte[]> target) {
        run(seeds, MUTATIONS, target);
    }

    private static void run(List<byte[]> seeds, int mutations, Consumer<byte[]> target) {
        seeds.forEach(target);
        Random random = new Random(1);
        for (int i = 0; i < mutations; i++) {
            byte[] seed = seeds.get(random.nextInt(seeds.size()));
            byte[] input = Mutations.mutated(seed, seeds.get(random.nextInt(seeds.size())), random);
            try {
                target.accept(input);
            } catch (RuntimeException | Error e) {
                throw new AssertionError(
                        "mutation " + i + " is a finding; add it to a corpus: " + quoted(input), e);
            }
        }
    }

    private static String quoted(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte octet : bytes) {
            text.append(
                    octet < ' ' || octet > '~' || octet == '\\'
                            ? String.format("\\x%02x", octet)
                            : String.valueOf((char) octet));
        }
        return text.toString();
    }
}
