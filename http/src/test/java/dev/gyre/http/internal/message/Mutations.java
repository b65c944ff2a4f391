package dev.gyre.http.internal.message;

import java.util.Arrays;
import java.util.Random;

/// Mutates valid messages into malformed ones.
public final class Mutations {
    /// Bytes that parsers often mishandle.
    private static final String[] PIECES = {
        "\r\n",
        "\n",
        "\r",
        "\0",
        " ",
        "\t",
        ":",
        ",",
        ";",
        "\"",
        "\\",
        "%",
        "#",
        "?",
        "*",
        "0",
        "f",
        "-1",
        "\u00ff",
        "\u007f",
        "\r\n\r\n",
        "\r\n ",
        "0\r\n\r\n",
        "Host: b\r\n",
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "chunked",
        "HTTP/1.0",
        "HTTP/1.1",
        "http://",
        "GET / HTTP/1.1\r\n",
        "Connection: close\r\n",
        "ffffffffffffffff",
    };

    private Mutations() {}

    /// A few changes, some of which bring in parts of another message.
    public static byte[] mutated(byte[] bytes, byte[] other, Random random) {
        byte[] changed = bytes;
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            int at = random.nextInt(changed.length + 1);
            int to = Math.min(changed.length, at + random.nextInt(6));
            changed =
                    switch (random.nextInt(6)) {
                        case 0 -> replaced(changed, at, to, new byte[0]);
                        case 1 -> replaced(changed, at, at, piece(random));
                        case 2 -> replaced(changed, at, to, piece(random));
                        case 3 -> replaced(changed, at, at, Arrays.copyOfRange(changed, at, to));
                        case 4 -> replaced(changed, at, at, part(other, random));
                        default -> flipped(changed, at, random);
                    };
        }
        return changed;
    }

    /// Where pieces begin: a few places, in ascending order.
    public static int[] cuts(int length, Random random) {
        return random.ints(random.nextInt(6), 0, length + 1).sorted().toArray();
    }

    private static byte[] piece(Random random) {
        String piece = PIECES[random.nextInt(PIECES.length)];
        byte[] bytes = new byte[piece.length()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) piece.charAt(i);
        }
        return bytes;
    }

    private static byte[] part(byte[] bytes, Random random) {
        int from = random.nextInt(bytes.length + 1);
        return Arrays.copyOfRange(bytes, from, from + random.nextInt(bytes.length - from + 1));
    }

    private static byte[] flipped(byte[] bytes, int at, Random random) {
        byte[] changed = bytes.clone();
        if (at < changed.length) {
            changed[at] = (byte) (changed[at] ^ 1 << random.nextInt(Byte.SIZE));
        }
        return changed;
    }

    private static byte[] replaced(byte[] bytes, int from, int to, byte[] by) {
        byte[] changed = new byte[bytes.length - (to - from) + by.length];
        System.arraycopy(bytes, 0, changed, 0, from);
        System.arraycopy(by, 0, changed, from, by.length);
        System.arraycopy(bytes, to, changed, from + by.length, bytes.length - to);
        return changed;
    }
}
