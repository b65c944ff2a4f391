package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;

/// How figures are written: [Latency], [Reading], [LiveLine] and [Report].
final class FiguresTest {
    private static final Latency NONE = new Latency(0, 0, 0, 0);

    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "999, 999 ns",
        "1000, 1.00 us",
        "9994, 9.99 us",
        "9995, 10.0 us",
        "99949, 99.9 us",
        "99950, 100 us",
        "999499, 999 us",
        "999500, 1.00 ms",
        "999499999, 999 ms",
        "999500000, 1.00 s",
        "60000000000, 60.0 s"
    })
    void latency_ofAnySize_hasThreeDigits(long nanos, String expected) {
        assertThat(Latency.format(nanos)).isEqualTo(expected).hasSizeLessThanOrEqualTo(7);
    }

    @Test
    void latency_ofAHistogram_hasItsPercentiles() {
        Histogram histogram = new Histogram(1_000_000, 3);
        for (int nanos = 1; nanos <= 100; nanos++) {
            histogram.recordValue(nanos);
        }

        assertThat(Latency.of(histogram)).isEqualTo(new Latency(100, 50, 99, 100));
    }

    @Test
    void latency_withoutSamples_isADash() {
        assertThat(Latency.of(new Histogram(1_000_000, 3)))
                .hasToString("p50 -, p99 -, max -, of 0");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "99999, 99999", "100000, 100k", "9999999, 9999k", "10000000, 10M"})
    void count_ofAnySize_fitsItsColumn(long count, String expected) {
        assertThat(LoopSample.compact(count)).isEqualTo(expected);
    }

    @Test
    void rate_isPerSecond() {
        LoopSample reading = new LoopSample(250_000_000, 100, 0, 0, 0, NONE, NONE);

        assertThat(reading.rate(reading.ticks())).isEqualTo("400");
    }

    @Test
    void line_ofLargeFigures_staysBelowTheHeaderAndWithinATerminal() {
        Latency worst = new Latency(1, 59_999_999_999L, 59_999_999_999L, 59_999_999_999L);
        LoopSample reading =
                new LoopSample(1_000_000_000, 9_999_999, 99_999, 9_999_999, 100_000, worst, worst);

        assertThat(LoopSample.HEADER).hasSize(79);
        assertThat(reading.line(0)).hasSize(79).contains("100k", "9999k", " 60.0 s");
        assertThat(reading.line(86_400_000_000_000L)).hasSize(79).startsWith("86400s");
    }

    @Test
    void liveLine_onATerminal_isRewrittenInPlace() {
        String printed =
                printed(
                        out -> {
                            LiveLine live = new LiveLine(out, true);
                            live.show("longer");
                            live.show("short");
                            live.end();
                        });

        assertThat(printed).isEqualTo("\rlonger\rshort \n");
    }

    @Test
    void liveLine_elsewhere_isALineEach() {
        String printed =
                printed(
                        out -> {
                            LiveLine live = new LiveLine(out, false);
                            live.show("longer");
                            live.show("short");
                            live.end();
                        });

        assertThat(printed).isEqualTo("longer\nshort\n");
    }

    @Test
    void report_ofLongText_goesOnInItsColumn() {
        String printed =
                printed(
                        out -> {
                            Report report = new Report(out);
                            report.section("One");
                            report.line("label", "word ".repeat(20).strip());
                            report.section("Two");
                        });

        assertThat(printed.lines())
                .containsExactly(
                        "One",
                        "  label             " + "word ".repeat(16).strip(),
                        "                    " + "word ".repeat(4).strip(),
                        "",
                        "Two");
    }

    private static String printed(Consumer<PrintWriter> printing) {
        StringWriter printed = new StringWriter();
        PrintWriter out = new PrintWriter(printed);
        printing.accept(out);
        out.flush();
        return printed.toString().replace(System.lineSeparator(), "\n");
    }
}
