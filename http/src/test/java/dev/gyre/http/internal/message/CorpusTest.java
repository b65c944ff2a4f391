package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The outcome of every message of the corpora, which does not depend on its pieces.
class CorpusTest {
    private static final Pattern REFUSAL = Pattern.compile("[A-Z_0-9]+");

    static List<Corpus.Case> requestsTaken() {
        return Corpus.requestsTaken();
    }

    static List<Corpus.Case> requestsRefused() {
        return Corpus.requestsRefused();
    }

    static List<Corpus.Case> responses() {
        return Corpus.responses();
    }

    @Clause("H-1")
    @ParameterizedTest
    @MethodSource("requestsTaken")
    void requestsTaken_inAnyPieces_areUnderstoodAsTheCorpusSays(Corpus.Case message) {
        String outcome =
                Splits.same(
                        message.bytes(), cuts -> MessageReader.ofRequests(message.bytes(), cuts));

        assertThat(outcome)
                .as("'%s' in requests-taken.txt: parser or corpus is wrong", message)
                .isEqualTo(message.outcome());
    }

    @Clause("H-1")
    @ParameterizedTest
    @MethodSource("requestsTaken")
    void requestsTaken_sentTwiceAhead_areUnderstoodTwice(Corpus.Case message) {
        byte[] twice = twice(message.bytes());

        String outcome = Splits.same(twice, cuts -> MessageReader.ofRequests(twice, cuts));

        assertThat(outcome)
                .as("'%s' in requests-taken.txt, and the same once more behind it", message)
                .isEqualTo(message.outcome() + "; " + message.outcome());
    }

    @Clause("H-1")
    @ParameterizedTest
    @MethodSource("requestsRefused")
    void requestsRefused_inAnyPieces_areRefusedAsTheCorpusSays(Corpus.Case message) {
        String outcome =
                Splits.same(
                        message.bytes(), cuts -> MessageReader.ofRequests(message.bytes(), cuts));

        assertThat(outcome)
                .as("'%s' in requests-refused.txt: parser or corpus is wrong", message)
                .endsWith("refused " + message.outcome());
    }

    @Clause("H-1")
    @ParameterizedTest
    @MethodSource("requestsRefused")
    void requestsRefused_withMoreBehind_areRefusedForTheSame(Corpus.Case message) {
        byte[] twice = twice(message.bytes());

        String outcome = Splits.same(twice, cuts -> MessageReader.ofRequests(twice, cuts));

        assertThat(outcome)
                .as("'%s' in requests-refused.txt, and the same once more behind it", message)
                .isEqualTo(MessageReader.ofRequests(message.bytes()));
    }

    @Clause("H-1")
    @ParameterizedTest
    @MethodSource("responses")
    void responses_inAnyPieces_areUnderstoodAsTheCorpusSays(Corpus.Case message) {
        String outcome =
                Splits.same(
                        message.bytes(),
                        cuts -> MessageReader.ofResponses(message.method(), message.bytes(), cuts));

        if (REFUSAL.matcher(message.outcome()).matches()) {
            assertThat(outcome)
                    .as("'%s' in responses.txt: parser or corpus is wrong", message)
                    .endsWith("refused " + message.outcome());
        } else {
            assertThat(outcome)
                    .as("'%s' in responses.txt: parser or corpus is wrong", message)
                    .isEqualTo(message.outcome());
        }
    }

    @Clause("H-1")
    @Test
    void corpora_haveAMessageForEveryRefusal_butThoseOfLimits() {
        List<ParseError> byLimits =
                List.of(
                        ParseError.TARGET_TOO_LONG,
                        ParseError.MISDIRECTED, // Depends on the connection.
                        ParseError.HEAD_TOO_SLOW,
                        ParseError.NO_MEMORY,
                        ParseError.HEAD_TOO_LARGE,
                        ParseError.TOO_MANY_HEADERS,
                        ParseError.CONTENT_TOO_LARGE,
                        ParseError.CHUNK_LINE_TOO_LONG,
                        ParseError.TOO_MANY_EXTENSIONS,
                        ParseError.TRAILER_TOO_LARGE);
        assertThat(
                        Arrays.stream(ParseError.values())
                                .filter(refusal -> !byLimits.contains(refusal)))
                .as("refusals: add a message to a corpus for each that is missing")
                .allMatch(
                        refusal ->
                                Stream.concat(
                                                Corpus.requestsRefused().stream(),
                                                Corpus.responses().stream())
                                        .anyMatch(
                                                message ->
                                                        message.outcome().equals(refusal.name())));
    }

    private static byte[] twice(byte[] bytes) {
        byte[] twice = Arrays.copyOf(bytes, 2 * bytes.length);
        System.arraycopy(bytes, 0, twice, bytes.length, bytes.length);
        return twice;
    }
}
