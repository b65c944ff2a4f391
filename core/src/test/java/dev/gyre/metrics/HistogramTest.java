package dev.gyre.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.gyre.Clause;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.List;
import java.util.Random;

/// Compares quantiles with those of HdrHistogram.
class HistogramTest {
    private static final double[] PERCENTAGES = {0, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 100};

    private final HistogramRecorder recorder = new HistogramRecorder();

    /// Distributions that are hard for buckets of a fixed or growing width.
    enum Distribution {
        UNIFORM {
            @Override
            long next(Random random) {
                return random.nextLong(HistogramRecorder.MAX_VALUE + 1);
            }
        },
        EXPONENTIAL {
            @Override
            long next(Random random) {
                return (long) (-Math.log(1 - random.nextDouble()) * 1e6);
            }
        },
        EVERY_MAGNITUDE {
            @Override
            long next(Random random) {
                return random.nextLong() >>> random.nextInt(64 - HistogramRecorder.MAX_BITS, 64);
            }
        },
        TWO_PEAKS {
            @Override
            long next(Random random) {
                return random.nextInt(100) == 0 ? 2_000_000_000L : 900 + random.nextInt(200);
            }
        },
        EDGES_OF_BUCKETS {
            @Override
            long next(Random random) {
                int bucket = random.nextInt(1, HistogramRecorder.BUCKETS);
                return HistogramRecorder.lowerBoundOf(bucket) - random.nextInt(2);
            }
        };

        abstract long next(Random random);
    }

    private void assertLikeHdr(Iterable<Long> values) {
        var oracle = new org.HdrHistogram.Histogram(HistogramRecorder.MAX_VALUE, 5);
        for (long each : values) {
            recorder.record(each);
            oracle.recordValue(each);
        }
        Histogram snapshot = recorder.snapshot();
        for (double percentage : PERCENTAGES) {
            double expected = oracle.getValueAtPercentile(percentage);
            assertThat((double) snapshot.percentileNanos(percentage))
                    .as("percentile %s", percentage)
                    .isEqualTo(expected, within(0.01 * expected));
        }
        assertThat(snapshot.count()).isEqualTo(oracle.getTotalCount());
    }

    @ParameterizedTest
    @EnumSource
    @Clause("V-1")
    void percentile_ofManyValues_isWithinOnePercentOfHdrHistogram(Distribution distribution) {
        Random random = new Random(distribution.name().hashCode());
        assertLikeHdr(random.longs(100_000).map(_ -> distribution.next(random)).boxed().toList());
    }

    @Property(tries = 200)
    @Clause("V-1")
    void percentile_ofAnyValues_isWithinOnePercentOfHdrHistogram(
            @ForAll @Size(min = 1, max = 200)
                    List<@LongRange(max = HistogramRecorder.MAX_VALUE) Long> values) {
        assertLikeHdr(values);
    }

    @Property
    void bucketOf_anyValue_isTheBucketWithItsBounds(
            @ForAll @LongRange(max = HistogramRecorder.MAX_VALUE) long value) {
        int bucket = HistogramRecorder.bucketOf(value);
        assertThat(bucket).isBetween(0, HistogramRecorder.BUCKETS - 1);
        assertThat(HistogramRecorder.lowerBoundOf(bucket)).isLessThanOrEqualTo(value);
        assertThat(HistogramRecorder.lowerBoundOf(bucket + 1)).isGreaterThan(value);
    }

    @Test
    void record_outOfRange_countsAsTheNearestValue() {
        recorder.record(-1);
        recorder.record(Long.MAX_VALUE);
        Histogram snapshot = recorder.snapshot();
        assertThat(snapshot.count()).isEqualTo(2);
        assertThat(snapshot.percentile(1)).isZero();
        assertThat(snapshot.max()).isEqualTo(Duration.ofNanos(HistogramRecorder.MAX_VALUE));
    }

    @Test
    void figures_ofSmallValues_areExact() {
        for (int i = 1; i <= 100; i++) {
            recorder.record(i);
        }
        Histogram snapshot = recorder.snapshot();
        assertThat(snapshot.percentileNanos(50)).isEqualTo(50);
        assertThat(snapshot.percentileNanos(100)).isEqualTo(100);
        assertThat(snapshot.sum()).isEqualTo(Duration.ofNanos(5_050));
        assertThat(snapshot.mean()).isEqualTo(Duration.ofNanos(50));
        assertThat(snapshot.countAtMost(Duration.ofNanos(10))).isEqualTo(10);
        assertThat(snapshot.countAtMost(Duration.ofNanos(-1))).isZero();
        assertThat(snapshot.countAtMost(Duration.ofDays(400_000))).isEqualTo(100);
    }

    @Test
    void minus_anEarlierSnapshot_hasTheValuesOfTheInterval() {
        recorder.record(1_000_000);
        Histogram before = recorder.snapshot();
        recorder.record(50);
        recorder.record(70);
        Histogram interval = recorder.snapshot().minus(before);
        assertThat(interval.count()).isEqualTo(2);
        assertThat(interval.max()).isEqualTo(Duration.ofNanos(70));
        assertThat(interval.sum()).isEqualTo(Duration.ofNanos(120));
        assertThat(interval.plus(before).count()).isEqualTo(3);
        assertThat(interval.plus(before).max()).isEqualTo(Duration.ofMillis(1));
    }

    @Test
    void minus_aLaterSnapshot_throws() {
        Histogram before = recorder.snapshot();
        recorder.record(1);
        Histogram after = recorder.snapshot();
        assertThatThrownBy(() -> before.minus(after)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void figures_withoutValues_areZero() {
        assertThat(Histogram.EMPTY.percentile(99)).isZero();
        assertThat(Histogram.EMPTY.mean()).isZero();
        assertThat(Histogram.EMPTY.max()).isZero();
    }

    @Test
    void percentile_outOfRange_throws() {
        for (double wrong : new double[] {-1, 100.1, Double.NaN}) {
            assertThatThrownBy(() -> Histogram.EMPTY.percentile(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(wrong));
        }
    }
}
