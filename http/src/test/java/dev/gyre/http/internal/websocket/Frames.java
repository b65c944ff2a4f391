package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/// Frames as bytes, made and read for tests with no code of what is tested.
public final class Frames {
    public static final int CONTINUATION = 0;
    public static final int TEXT = 1;
    public static final int BINARY = 2;
    public static final int CLOSE = 8;
    public static final int PING = 9;
    public static final int PONG = 10;

    private static final byte[] KEY = {0x12, (byte) 0xa3, 0x5c, (byte) 0xff};

    private Frames() {}

    // ------------------------------------------------------------------ making

    public static byte[] utf8(String text) {
        return text.getBytes(UTF_8);
    }

    /// A client's frame that ends its message.
    public static byte[] frame(int opcode, byte[] content) {
        return frame(0x80 | opcode, content, true);
    }

    public static byte[] frame(int opcode, String content) {
        return frame(opcode, utf8(content));
    }

    /// A client's frame that does not.
    public static byte[] part(int opcode, String content) {
        return frame(opcode, utf8(content), true);
    }

    public static byte[] part(int opcode, byte[] content) {
        return frame(opcode, content, true);
    }

    /// Any frame.
    ///
    /// @param first the whole first byte
    public static byte[] frame(int first, byte[] content, boolean masked) {
        ByteBuffer to = ByteBuffer.allocate(content.length + 14);
        int mask = masked ? 0x80 : 0;
        to.put((byte) first);
        if (content.length < 126) {
            to.put((byte) (mask | content.length));
        } else if (content.length < 65536) {
            to.put((byte) (mask | 126)).putShort((short) content.length);
        } else {
            to.put((byte) (mask | 127)).putLong(content.length);
        }
        if (masked) {
            to.put(KEY);
        }
        for (int i = 0; i < content.length; i++) {
            to.put((byte) (masked ? content[i] ^ KEY[i & 3] : content[i]));
        }
        return Arrays.copyOf(to.array(), to.position());
    }

    public static byte[] close(int code, String reason) {
        return frame(CLOSE, closeContent(code, reason));
    }

    public static byte[] closeContent(int code, String reason) {
        byte[] words = utf8(reason);
        return ByteBuffer.allocate(2 + words.length).putShort((short) code).put(words).array();
    }

    public static byte[] join(byte[]... pieces) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] each : pieces) {
            all.writeBytes(each);
        }
        return all.toByteArray();
    }

    /// A message's content as permessage-deflate has it.
    public static byte[] deflated(byte[] content) {
        Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
        try {
            deflater.setInput(content);
            byte[] room = new byte[content.length * 2 + 1024];
            int length = deflater.deflate(room, 0, room.length, Deflater.SYNC_FLUSH);
            return Arrays.copyOf(room, length - 4);
        } finally {
            deflater.end();
        }
    }

    // ------------------------------------------------------------------ reading

    /// What frames say, in words, one line each. A frame that is not whole is told as such.
    public static List<String> describe(byte[] bytes) {
        List<String> found = new ArrayList<>();
        ByteBuffer from = ByteBuffer.wrap(bytes);
        while (from.hasRemaining()) {
            int start = from.position();
            String next = describeOne(from);
            if (next == null) {
                found.add("… and " + (bytes.length - start) + " bytes of a frame");
                return found;
            }
            found.add(next);
        }
        return found;
    }

    private static String describeOne(ByteBuffer from) {
        if (from.remaining() < 2) {
            return null;
        }
        int first = from.get() & 0xff;
        int second = from.get() & 0xff;
        long length = second & 0x7f;
        int more = length == 126 ? 2 : length == 127 ? 8 : 0;
        if (from.remaining() < more) {
            return null;
        }
        length = more == 2 ? from.getShort() & 0xffff : more == 8 ? from.getLong() : length;
        byte[] key = new byte[(second & 0x80) != 0 ? 4 : 0];
        if (from.remaining() < key.length + length) {
            return null;
        }
        from.get(key);
        byte[] content = new byte[(int) length];
        from.get(content);
        for (int i = 0; key.length > 0 && i < content.length; i++) {
            content[i] ^= key[i & 3];
        }
        boolean packed = (first & 0x40) != 0;
        String told = describe(first & 0x8f, packed ? inflated(content) : content);
        return (packed ? "packed " : "") + told;
    }

    private static byte[] inflated(byte[] content) {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(join(content, new byte[] {0, 0, -1, -1}));
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] room = new byte[8192];
            for (int made = inflater.inflate(room); made > 0; made = inflater.inflate(room)) {
                all.write(room, 0, made);
            }
            return all.toByteArray();
        } catch (DataFormatException e) {
            throw new AssertionError("what was sent as compressed is not", e);
        } finally {
            inflater.end();
        }
    }

    /// What a frame says, in words.
    ///
    /// @param first what the first byte has, but for the reserved bits
    public static String describe(int first, byte[] content) {
        String part = (first & 0x80) == 0 ? "part of " : "";
        return part
                + switch (first & 0x0f) {
                    case CONTINUATION -> "more " + shown(content);
                    case TEXT -> "text " + shown(content);
                    case BINARY -> "binary " + shown(content);
                    case CLOSE -> describeClose(content);
                    case PING -> "ping " + shown(content);
                    case PONG -> "pong " + shown(content);
                    default -> "opcode " + (first & 0x0f);
                };
    }

    public static String text(String content) {
        return describe(0x80 | TEXT, utf8(content));
    }

    public static String binary(byte[] content) {
        return describe(0x80 | BINARY, content);
    }

    private static String describeClose(byte[] content) {
        if (content.length < 2) {
            return content.length == 0 ? "close" : "close with half a code";
        }
        return "close " + ((content[0] & 0xff) << 8 | (content[1] & 0xff));
    }

    private static String shown(byte[] content) {
        if (content.length <= 40) {
            return HexFormat.of().formatHex(content);
        }
        CRC32 sum = new CRC32();
        sum.update(content);
        return content.length + " bytes, sum " + Long.toHexString(sum.getValue());
    }
}
