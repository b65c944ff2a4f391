package dev.gyre.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.gyre.Clause;
import dev.gyre.io.Tls;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;

/// Data survives any fragmentation, and arbitrary input causes only a failure.
class TlsPropertyTest {
    private final Tls server;
    private final Tls client;

    TlsPropertyTest() throws IOException {
        server = Certificates.server();
        client = Certificates.client();
    }

    private static byte[] random(int bytes, long seed) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    /// Both ends share one scratch buffer, like the connections of a loop.
    private void conversation(
            String version,
            IntUnaryOperator arrival,
            IntUnaryOperator heldBack,
            List<Integer> sizes) {
        RecordScratch scratch = new RecordScratch();
        TlsEnd here = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, scratch));
        TlsEnd there =
                new TlsEnd(
                        TlsSetup.of(client.withVersions(version))
                                .newEngine("localhost", 1, scratch));
        here.arrival = arrival;
        there.arrival = arrival;
        here.heldBack = heldBack;
        there.heldBack = heldBack;
        int total = sizes.stream().mapToInt(Integer::intValue).sum();
        byte[] data = random(total, total);
        int at = 0;
        for (int size : sizes) {
            there.toSend.add(ByteBuffer.wrap(data, at, size));
            here.toSend.add(ByteBuffer.wrap(data, at, size));
            at += size;
        }
        TlsEnd.talk(there, here);
        there.engine.end();
        here.engine.end();
        TlsEnd.talk(there, here);

        assertThat(here.engine.failure()).isNull();
        assertThat(there.engine.failure()).isNull();
        assertThat(Arrays.equals(here.received.toByteArray(), data)).isTrue();
        assertThat(Arrays.equals(there.received.toByteArray(), data)).isTrue();
        assertThat(here.engine.inputEnded()).isTrue();
        assertThat(there.engine.inputEnded()).isTrue();
    }

    @Property(tries = 40)
    @Clause("X-1")
    void conversation_cutAnywhere_arrivesWhole(
            @ForAll boolean newer,
            @ForAll @IntRange(min = 1, max = 5_000) int most,
            @ForAll long seed,
            @ForAll @Size(max = 4) List<@IntRange(max = 20_000) Integer> sizes) {
        Random random = new Random(seed);
        conversation(
                newer ? "TLSv1.3" : "TLSv1.2",
                all -> 1 + random.nextInt(most),
                all -> random.nextInt(all + 1),
                sizes);
    }

    @Example
    @Clause("X-1")
    void conversation_oneByteAtATime_arrivesWhole() {
        for (String version : List.of("TLSv1.2", "TLSv1.3")) {
            conversation(version, all -> 1, all -> all - 1, List.of(3, 0, 5_000, 17_000));
        }
    }

    /// After any prefix of a valid handshake.
    @Property(tries = 150)
    @Clause("X-1")
    void receive_ofAnything_failsAndThrowsNothing(
            @ForAll @IntRange(max = 2) int turns,
            @ForAll boolean looksLikeARecord,
            @ForAll @Size(min = 5, max = 300) byte[] noise) {
        TlsEnd here = new TlsEnd(TlsSetup.of(server).newEngine(null, 0, new RecordScratch()));
        TlsEnd there =
                new TlsEnd(TlsSetup.of(client).newEngine("localhost", 1, new RecordScratch()));
        for (int i = 0; i < turns; i++) {
            there.turn();
            here.arrive(there.takeOutput());
            here.turn();
            there.arrive(here.takeOutput());
        }
        if (looksLikeARecord) {
            noise[0] = (byte) (20 + (noise[0] & 3));
            noise[1] = 3;
            noise[3] = (byte) ((noise.length - 5) >> 8);
            noise[4] = (byte) (noise.length - 5);
        }
        assertThatCode(
                        () -> {
                            here.arrive(noise);
                            for (int i = 0; i < 10; i++) {
                                here.turn();
                            }
                            here.engine.inputClosed();
                            here.turn();
                        })
                .doesNotThrowAnyException();
        assertThat(here.engine.failure()).isNotNull();
        assertThat(here.engine.outputEnded()).isTrue();
    }

    @Property(tries = 500)
    @Clause("X-1")
    void clientHello_ofAnything_hasANameOrNone(@ForAll @Size(max = 120) byte[] noise) {
        ByteBuffer record = ByteBuffer.wrap(noise);
        assertThatCode(() -> ClientHello.serverName(record)).doesNotThrowAnyException();
        assertThat(record.position()).isZero();
    }

    // ------------------------------------------------------------------ DER

    @Property(tries = 300)
    @Clause("X-1")
    void oid_writtenAndRead_isTheSame(
            @ForAll @IntRange(max = 2) int first,
            @ForAll @IntRange(max = 39) int second,
            @ForAll @Size(max = 8) List<@IntRange(max = Integer.MAX_VALUE) Integer> arcs)
            throws GeneralSecurityException {
        StringBuilder dotted = new StringBuilder(first + "." + second);
        arcs.forEach(arc -> dotted.append('.').append(arc));

        Der.Value read = Der.next(ByteBuffer.wrap(Der.oid(dotted.toString())));

        assertThat(read.asOid()).isEqualTo(dotted.toString());
    }

    @Property(tries = 200)
    @Clause("X-1")
    void octets_ofAnyLength_comeBack(@ForAll @IntRange(max = 70_000) int length)
            throws GeneralSecurityException {
        byte[] content = random(length, length);

        Der.Value read = Der.next(ByteBuffer.wrap(Der.sequence(Der.octets(content))));

        assertThat(Der.next(read.require(Der.SEQUENCE).content()).bytes()).isEqualTo(content);
    }
}
