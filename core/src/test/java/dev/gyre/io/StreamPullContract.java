package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

/// Reading by promises.
public abstract class StreamPullContract extends StreamFixture {
    @Test
    @Clause("N-2")
    void read_promisesTheNextBytes_andAnEmptyBufferAtTheEnd() {
        connect();
        client.write("one");
        assertThat(outcome(server.read()).getText(US_ASCII)).isEqualTo("one");
        client.write("two");
        client.end();
        assertThat(outcome(server.read()).getText(US_ASCII)).isEqualTo("two");
        assertThat(outcome(server.read()).readable()).isZero();
        assertThat(outcome(server.read()).readable()).isZero();
    }

    @Test
    @Clause("N-2")
    void read_ofSoMany_waitsForThem() {
        connect();
        Promise<Buffer> eight = server.read(8);
        client.write("1234");
        settle();
        assertThat(eight.isSettled()).isFalse();
        client.write("5678 and more");
        Buffer got = outcome(eight);
        assertThat(got.getText(8, US_ASCII)).isEqualTo("12345678");
        Buffer rest = outcome(server.read(9));
        assertThat(rest.getText(US_ASCII)).isEqualTo(" and more");
    }

    @Test
    @Clause("N-2")
    void read_ofMoreThanThereIs_getsTheRestAtTheEnd() {
        connect();
        Promise<Buffer> eight = server.read(8);
        client.write("1234");
        client.end();
        assertThat(outcome(eight).getText(US_ASCII)).isEqualTo("1234");
    }

    @Test
    @Clause("N-2")
    void bytes_leftInTheBuffer_comeAgain() {
        connect();
        client.write("abcd");
        Buffer first = outcome(server.read(4));
        assertThat(first.getText(2, US_ASCII)).isEqualTo("ab");
        Buffer second = outcome(server.read());
        assertThat(second.getText(US_ASCII)).isEqualTo("cd");
    }

    @Test
    @Clause("N-3")
    void nothing_isReadUnlessAskedFor() {
        connect();
        client.write("x".repeat(20));
        settle();
        assertThat(server.received()).isZero();
        outcome(server.read());
        client.write("more");
        settle();
        assertThat(server.received()).isEqualTo(20);
    }

    @Test
    @Clause("N-2")
    void manyBytes_arriveInOrderAndWhole() {
        connect();
        byte[] all = new byte[200_000];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) (i % 251);
        }
        client.write(all);
        client.end();
        Buffer got = Buffer.allocate(all.length);
        Buffer part;
        do {
            part = outcome(server.read());
            got.put(part);
        } while (got.readable() < all.length);
        assertThat(got.getBytes()).isEqualTo(all);
        assertThat(outcome(server.read()).readable()).isZero();
    }

    @Test
    @Clause("N-6")
    void read_ofAStreamThatIsReset_isRejected() {
        connect();
        Promise<Buffer> reading = server.read();
        client.abort();
        assertThat(failure(reading))
                .isInstanceOf(StreamClosedException.class)
                .hasMessageContaining("RESET");
        assertThat(failure(server.read())).isInstanceOf(StreamClosedException.class);
    }

    @Test
    @Clause({"E-1", "N-6"})
    void reset_ofAPeer_walksNoStackAndLosesNoWord() {
        connect();
        Promise<Buffer> reading = server.read();
        client.abort();
        Throwable told = failure(reading);
        assertThat(told.getStackTrace()).as("what the loop was doing is no news").isEmpty();
        assertThat(told)
                .hasMessageContaining(server.peer().toString())
                .hasMessageEndingWith("is closed: RESET");
        assertThat(((StreamClosedException) told).reason()).isEqualTo(CloseReason.RESET);
        assertThat(told.getCause()).isSameAs(server.failure());
        assertThat(server.failure().getStackTrace()).isEmpty();
        assertThat(server.failure()).hasMessageContainingAll("on descriptor", "ECONNRESET (104)");
    }

    @Test
    @Clause("N-2")
    void misuse_isRefused() {
        connect();
        server.read();
        assertThatThrownBy(() -> server.read())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another read() is pending");
        client.onData(Buffer::clear);
        assertThatThrownBy(() -> client.read())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("callbacks");
        assertThatThrownBy(() -> client.read(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("N-2")
    void callbacks_afterReads_getTheRest() {
        connect();
        client.write("headbody");
        assertThat(outcome(server.read(4)).getText(4, US_ASCII)).isEqualTo("head");
        record("server", server);
        awaitEvent("server body");
    }

    @Test
    @Clause("N-2")
    void buffer_ofARead_isRefusedAfterTheNext_andReleasingItDoesNothing() {
        connect();
        client.write("abcd");
        Buffer first = outcome(server.read(4));
        first.release();
        assertThat(first.getText(2, US_ASCII)).isEqualTo("ab");
        Buffer second = outcome(server.read());
        assertThatThrownBy(first::readable)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the stream again");
        assertThat(second.getText(US_ASCII)).isEqualTo("cd");
    }

    @Test
    @Clause("N-4")
    void stream_withBothDirectionsEnded_isClosed() {
        connect();
        server.onClose(reason -> events.add("server " + reason));
        client.onData(Buffer::clear);
        client.end();
        server.end();
        assertThat(outcome(server.read()).readable()).isZero();
        awaitEvent("server ENDED");
    }
}
