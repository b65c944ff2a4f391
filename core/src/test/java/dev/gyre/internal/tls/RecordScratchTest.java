package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;

/// One scratch buffer for many connections.
class RecordScratchTest {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final int RECORD_BYTES = 16_000;
    private static final int RECORDS = 32;

    /// For one record each way. The engine itself allocates half of it.
    private static final int MOST_ALLOCATED = 6_500;

    private final RecordScratch scratch = new RecordScratch();
    private final ByteBuffer plaintext = ByteBuffer.allocateDirect(RECORD_BYTES);
    private final ByteBuffer received = ByteBuffer.allocateDirect(1 << 15);
    private final ByteBuffer wire = ByteBuffer.allocateDirect(1 << 15);
    private Tls server;
    private Tls client;

    @BeforeEach
    void prepare() throws IOException {
        server = Certificates.server();
        client = Certificates.client();
    }

    private TlsEnd serverEnd() {
        return new TlsEnd(TlsSetup.of(server).newEngine(null, 0, scratch));
    }

    private TlsEnd clientEnd() {
        return new TlsEnd(TlsSetup.of(client).newEngine("localhost", 4433, scratch));
    }

    @Test
    @Clause("X-1")
    void connections_onOneBench_doNotSeeEachOther() {
        TlsEnd one = serverEnd();
        TlsEnd other = serverEnd();
        TlsEnd oneClient = clientEnd();
        TlsEnd otherClient = clientEnd();
        for (int i = 0; i < 20; i++) { // Interleaves their records.
            step(oneClient, one);
            step(otherClient, other);
        }
        oneClient.write("this is for one");
        otherClient.write("and that for another");
        for (int i = 0; i < 4; i++) {
            step(oneClient, one);
            step(otherClient, other);
        }

        assertThat(one.text()).isEqualTo("this is for one");
        assertThat(other.text()).isEqualTo("and that for another");
    }

    private static void step(TlsEnd from, TlsEnd to) {
        from.turn();
        to.arrive(from.takeOutput());
        to.turn();
        from.arrive(to.takeOutput());
    }

    /// With direct buffers, the JDK's ciphers allocate three times as much per record.
    @Test
    void records_outsideTheHeap_areWorkedOnWithoutArraysOfTheirOwn() {
        TlsEnd here = serverEnd();
        TlsEnd there = clientEnd();
        TlsEnd.talk(there, here);
        sendOne(there, here); // One-time allocations.

        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < RECORDS; i++) {
            sendOne(there, here);
        }
        long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / RECORDS;

        assertThat(each).as("bytes allocated for one record each way").isLessThan(MOST_ALLOCATED);
    }

    private void sendOne(TlsEnd from, TlsEnd to) {
        wire.clear();
        from.engine.send(new ByteBuffer[] {plaintext.clear()}, 0, 1, wire);
        to.engine.receive(Ciphertext.of(wire.flip()), received.clear());
        assertThat(received.position()).isEqualTo(RECORD_BYTES);
    }
}
