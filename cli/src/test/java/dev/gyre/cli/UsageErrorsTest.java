package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class UsageErrorsTest {
    @ParameterizedTest
    @CsvSource({
        "serve,  --prot=80,      --port",
        "serve,  --max-b,        --max-body",
        "echo,   --max-per-pear, --max-per-peer",
        "ticks,  --secnods=5,    --seconds",
        "doctor, --hepl,         --help"
    })
    void option_thatIsMistyped_isToldWithWhatWasMeant(String command, String typed, String meant) {
        assertThat(Execution.of(command, typed))
                .isEqualTo(
                        misuse(
                                "Unknown option: '" + typed + "'",
                                "Did you mean " + meant + "?",
                                "Run gyre help " + command + " for its options."));
    }

    @Test
    void option_likeNoOther_isToldWithoutAGuess() {
        assertThat(Execution.of("serve", "--frobnicate"))
                .isEqualTo(
                        misuse(
                                "Unknown option: '--frobnicate'",
                                "Run gyre help serve for its options."));
    }

    @Test
    void option_thatIsHidden_isNotSuggested() {
        assertThat(Execution.of("serve", "--trai").err()).doesNotContain("Did you mean");
    }

    @Test
    void value_thatMakesNoSense_isToldInTwoLines() {
        for (String command : new String[] {"serve", "echo"}) {
            assertThat(Execution.of(command, "--idle-timeout=soon").err().lines())
                    .as("of %s: the reason, and where the help is", command)
                    .hasSize(2);
        }
    }

    @Test
    void command_thatIsMistyped_isToldWithWhatWasMeant() {
        assertThat(Execution.of("srve"))
                .isEqualTo(
                        misuse(
                                "Unmatched argument at index 0: 'srve'",
                                "Did you mean serve?",
                                "Run gyre help for a list of commands."));
    }

    @Test
    void nothing_isAnsweredWithTheHelp() {
        Execution execution = Execution.of();

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains("Commands:", "serve").endsWith("subcommand\n");
    }

    @ParameterizedTest
    @CsvSource({"port, port, 0", "prot, port, 1", "pot, port, 1", "sport, port, 1", "tls, key, 3"})
    void distance_betweenWords_areCounted(String a, String b, int distance) {
        assertThat(UsageErrors.distance(a, b)).isEqualTo(distance);
        assertThat(UsageErrors.distance(b, a)).isEqualTo(distance);
    }

    private static Execution misuse(String... lines) {
        return new Execution(2, "", String.join("\n", lines) + "\n");
    }
}
