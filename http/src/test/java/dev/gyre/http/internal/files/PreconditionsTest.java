package dev.gyre.http.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.http.Headers;
import dev.gyre.http.internal.files.Preconditions.Outcome;
import dev.gyre.http.internal.message.HttpDate;

import org.junit.jupiter.api.Test;

class PreconditionsTest {
    private static final String DATE = "Sun, 06 Nov 1994 08:49:37 GMT";
    private static final long SECONDS = 784_111_777;

    @Test
    void matchesRange_withWeakOrMissingValidator_isFalse() {
        assertThat(Preconditions.matchesRange("\"a\"", "\"a\"", SECONDS)).isTrue();
        assertThat(Preconditions.matchesRange("W/\"a\"", "W/\"a\"", SECONDS)).isFalse();
        assertThat(Preconditions.matchesRange("\"a\"", "W/\"a\"", SECONDS)).isFalse();
        assertThat(Preconditions.matchesRange("W/\"a\"", "\"a\"", SECONDS)).isFalse();
        assertThat(Preconditions.matchesRange("\"\"", "", SECONDS)).isFalse();
        assertThat(Preconditions.matchesRange(DATE, "\"a\"", SECONDS)).isTrue();
        assertThat(Preconditions.matchesRange(DATE, "W/\"a\"", HttpDate.NONE)).isFalse();
        assertThat(Preconditions.matchesRange("junk", "W/\"a\"", HttpDate.NONE)).isFalse();
        assertThat(Preconditions.matchesRange(null, "W/\"a\"", HttpDate.NONE)).isTrue();
    }

    @Test
    void check_withoutAnyCondition_proceeds() {
        assertThat(Preconditions.check(Headers.of(), "", HttpDate.NONE)).isEqualTo(Outcome.PROCEED);
    }
}
