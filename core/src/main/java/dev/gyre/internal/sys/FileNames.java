package dev.gyre.internal.sys;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/// Names as the kernel has them, bytes, and as Java has them, paths.
///
/// A path of the default file system keeps the bytes, but its constructor from a string and its
/// `toString()` go through the file-name encoding, which loses what is not text in it. Its URI
/// does not: every byte that is not plain ASCII is escaped there, and taken back as it was. So
/// everything but ASCII goes that way.
public final class FileNames {
    private static final String HEX = "0123456789ABCDEF";

    private FileNames() {}

    /// The entry's name as a path of one element.
    public static Path name(byte[] bytes) {
        if (isAscii(bytes)) {
            return Path.of(new String(bytes, StandardCharsets.US_ASCII));
        }
        StringBuilder uri = new StringBuilder("file:///");
        for (byte each : bytes) {
            uri.append('%').append(HEX.charAt(each >> 4 & 0xF)).append(HEX.charAt(each & 0xF));
        }
        return Path.of(URI.create(uri.toString())).getFileName();
    }

    /// The absolute path's bytes.
    public static byte[] bytes(Path path) {
        Path absolute = path.toAbsolutePath();
        byte[] bytes = absolute.toString().getBytes(StandardCharsets.UTF_8);
        return isAscii(bytes) ? bytes : unescaped(absolute.toUri().getRawPath());
    }

    private static byte[] unescaped(String escaped) {
        byte[] bytes = new byte[escaped.length()];
        int length = 0;
        for (int i = 0; i < escaped.length(); i++) {
            char each = escaped.charAt(i);
            if (each == '%') {
                bytes[length++] = (byte) Integer.parseInt(escaped, i + 1, i + 3, 16);
                i += 2;
            } else {
                bytes[length++] = (byte) each;
            }
        }
        // The URI of a directory ends in a slash, which would make the kernel follow a symbolic
        // link.
        if (length > 1 && bytes[length - 1] == '/') {
            length--;
        }
        return Arrays.copyOf(bytes, length);
    }

    private static boolean isAscii(byte[] bytes) {
        for (byte each : bytes) {
            if (each < 0) {
                return false;
            }
        }
        return true;
    }
}
