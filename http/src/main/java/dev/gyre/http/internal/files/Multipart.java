package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/// Several parts of a file as one content, with lines between them.
///
/// Loop thread only.
final class Multipart {
    /// Nobody can know it and put it into a file.
    private final String secret;

    private long count;

    Multipart() {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        secret = HexFormat.of().formatHex(random);
    }

    static String contentRange(ByteRanges.Part part, long size) {
        return "bytes " + part.offset() + "-" + part.last() + "/" + size;
    }

    static byte[] cut(byte[] content, ByteRanges.Part part) {
        return Arrays.copyOfRange(
                content, (int) part.offset(), (int) part.offset() + (int) part.bytes());
    }

    /// @param type of each part
    Message of(FileForm form, String type, List<ByteRanges.Part> parts) {
        String boundary = secret + Long.toHexString(count++);
        List<byte[]> lines = new ArrayList<>();
        long length = 0;
        for (int i = 0; i < parts.size(); i++) {
            String before =
                    (i == 0 ? "--" : "\r\n--")
                            + boundary
                            + "\r\nContent-Type: "
                            + type
                            + "\r\nContent-Range: "
                            + contentRange(parts.get(i), form.length())
                            + "\r\n\r\n";
            byte[] line = before.getBytes(UTF_8);
            lines.add(line);
            length += line.length + parts.get(i).bytes();
        }
        byte[] end = ("\r\n--" + boundary + "--\r\n").getBytes(UTF_8);
        lines.add(end);
        return new Message(form.head().ofParts(boundary), parts, lines, length + end.length);
    }

    /// @param lines what stands before each part, and after the last
    /// @param length of everything
    record Message(FileHead head, List<ByteRanges.Part> parts, List<byte[]> lines, long length) {
        byte[] before(int part) {
            return lines.get(part);
        }

        byte[] content(byte[] whole) {
            ByteArrayOutputStream all = new ByteArrayOutputStream((int) length);
            for (int i = 0; i < parts.size(); i++) {
                all.writeBytes(lines.get(i));
                all.write(whole, (int) parts.get(i).offset(), (int) parts.get(i).bytes());
            }
            all.writeBytes(lines.getLast());
            return all.toByteArray();
        }
    }
}
