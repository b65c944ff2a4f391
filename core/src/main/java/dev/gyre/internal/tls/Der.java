package dev.gyre.internal.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/// Encodes and decodes the subset of DER (X.690) that keys and certificates use.
final class Der {
    static final int INTEGER = 0x02;
    static final int OCTETS = 0x04;
    static final int OID = 0x06;
    static final int SEQUENCE = 0x30;

    private static final int BOOLEAN = 0x01;
    private static final int BITS = 0x03;
    private static final int NULL = 0x05;
    private static final int UTF8 = 0x0c;
    private static final int UTC_TIME = 0x17;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int SET = 0x31;
    private static final int CONTEXT = 0x80;
    private static final int CONSTRUCTED = 0x20;

    private static final DateTimeFormatter UTC =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter GENERALIZED =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    /// Years from 2050 on require four digits (RFC 5280, 4.1.2.5).
    private static final Instant FIRST_GENERALIZED = Instant.parse("2050-01-01T00:00:00Z");

    private Der() {}

    static byte[] sequence(byte[]... parts) {
        return tagged(SEQUENCE, parts);
    }

    static byte[] set(byte[]... parts) {
        return tagged(SET, parts);
    }

    static byte[] integer(BigInteger value) {
        return tagged(INTEGER, value.toByteArray());
    }

    static byte[] octets(byte[] content) {
        return tagged(OCTETS, content);
    }

    static byte[] utf8(String text) {
        return tagged(UTF8, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] nullValue() {
        return tagged(NULL);
    }

    static byte[] trueValue() {
        return tagged(BOOLEAN, new byte[] {(byte) 0xff});
    }

    /// @param unused how many bits of the last byte do not count
    static byte[] bits(int unused, byte[] content) {
        return tagged(BITS, new byte[] {(byte) unused}, content);
    }

    static byte[] time(Instant at) {
        return at.isBefore(FIRST_GENERALIZED)
                ? tagged(UTC_TIME, UTC.format(at).getBytes(StandardCharsets.US_ASCII))
                : tagged(
                        GENERALIZED_TIME,
                        GENERALIZED.format(at).getBytes(StandardCharsets.US_ASCII));
    }

    static byte[] oid(String dotted) {
        String[] arcs = dotted.split("\\.", -1);
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        putArc(content, Long.parseLong(arcs[0]) * 40 + Long.parseLong(arcs[1]));
        for (int i = 2; i < arcs.length; i++) {
            putArc(content, Long.parseLong(arcs[i]));
        }
        return tagged(OID, content.toByteArray());
    }

    private static void putArc(ByteArrayOutputStream into, long arc) {
        int groups = Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(arc) + 6) / 7);
        for (int i = groups - 1; i >= 0; i--) {
            into.write((int) ((arc >>> (7 * i)) & 0x7f) | (i == 0 ? 0 : 0x80));
        }
    }

    /// Encodes an implicitly tagged value.
    static byte[] context(int number, byte[]... parts) {
        return tagged(CONTEXT | number, parts);
    }

    /// Encodes explicitly tagged values.
    static byte[] explicit(int number, byte[]... parts) {
        return tagged(CONTEXT | CONSTRUCTED | number, parts);
    }

    private static byte[] tagged(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(length + 6);
        out.write(tag);
        putLength(out, length);
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static void putLength(ByteArrayOutputStream out, int length) {
        if (length < 0x80) {
            out.write(length);
            return;
        }
        int bytes = (Integer.SIZE - Integer.numberOfLeadingZeros(length) + 7) / 8;
        out.write(0x80 | bytes);
        for (int i = bytes - 1; i >= 0; i--) {
            out.write(length >>> (8 * i));
        }
    }

    record Value(int tag, ByteBuffer content) {
        boolean isExplicit(int number) {
            return tag == (CONTEXT | CONSTRUCTED | number);
        }

        byte[] bytes() {
            byte[] bytes = new byte[content.remaining()];
            content.duplicate().get(bytes);
            return bytes;
        }

        Value require(int wanted) throws GeneralSecurityException {
            if (tag != wanted) {
                throw new GeneralSecurityException(
                        "value with tag %#x where %#x was expected".formatted(tag, wanted));
            }
            return this;
        }

        String asOid() throws GeneralSecurityException {
            require(OID);
            StringBuilder dotted = new StringBuilder();
            ByteBuffer rest = content.duplicate();
            while (rest.hasRemaining()) {
                long arc = 0;
                int next;
                do {
                    if (!rest.hasRemaining() || arc > Long.MAX_VALUE >>> 7) {
                        throw new GeneralSecurityException("malformed object identifier");
                    }
                    next = rest.get();
                    arc = arc << 7 | (next & 0x7f);
                } while (next < 0);
                if (dotted.isEmpty()) {
                    long first = Math.min(arc / 40, 2);
                    dotted.append(first).append('.').append(arc - first * 40);
                } else {
                    dotted.append('.').append(arc);
                }
            }
            return dotted.toString();
        }
    }

    static Value next(ByteBuffer from) throws GeneralSecurityException {
        if (from.remaining() < 2) {
            throw new GeneralSecurityException("truncated value");
        }
        int tag = from.get() & 0xff;
        int length = from.get() & 0xff;
        if (length >= 0x80) {
            int bytes = length & 0x7f;
            if (bytes == 0 || bytes > 3 || bytes > from.remaining()) {
                throw new GeneralSecurityException("malformed length");
            }
            length = 0;
            for (int i = 0; i < bytes; i++) {
                length = length << 8 | (from.get() & 0xff);
            }
        }
        if (length > from.remaining()) {
            throw new GeneralSecurityException(
                    "value of " + length + " bytes, but only " + from.remaining() + " are left");
        }
        ByteBuffer content = from.slice(from.position(), length);
        from.position(from.position() + length);
        return new Value(tag, content);
    }
}
