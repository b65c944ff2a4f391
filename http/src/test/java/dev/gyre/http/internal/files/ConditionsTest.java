package dev.gyre.http.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.http.internal.files.Conditions.Outcome;
import dev.gyre.http.internal.message.NoHeaders;

import org.junit.jupiter.api.Test;

class ConditionsTest {
    private static final String DATE = "Sun, 06 Nov 1994 08:49:37 GMT";
    private static final long SECONDS = 784_111_777;

    @Test
    void isSame_ofWhatIsNotVouchedFor_isFalse() {
        assertThat(Conditions.isSame("\"a\"", "\"a\"", SECONDS)).isTrue();
        assertThat(Conditions.isSame("W/\"a\"", "W/\"a\"", SECONDS)).isFalse();
        assertThat(Conditions.isSame("\"a\"", "W/\"a\"", SECONDS)).isFalse();
        assertThat(Conditions.isSame("W/\"a\"", "\"a\"", SECONDS)).isFalse();
        assertThat(Conditions.isSame("\"\"", "", SECONDS)).isFalse();
        assertThat(Conditions.isSame(DATE, "\"a\"", SECONDS)).isTrue();
        assertThat(Conditions.isSame(DATE, "W/\"a\"", HttpDates.NONE)).isFalse();
        assertThat(Conditions.isSame("junk", "W/\"a\"", HttpDates.NONE)).isFalse();
        assertThat(Conditions.isSame(null, "W/\"a\"", HttpDates.NONE)).isTrue();
    }

    @Test
    void check_withoutAnyCondition_goesOn() {
        assertThat(Conditions.check(NoHeaders.INSTANCE, "", HttpDates.NONE))
                .isEqualTo(Outcome.GO_ON);
    }
}
