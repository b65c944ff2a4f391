package dev.gyre.internal.sys;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;

/// Converts file names between the kernel's bytes and Java's paths.
///
/// A path of the default file system keeps the bytes. Its constructor from a string and its
/// `toString()` use the file-name encoding, which loses bytes that are not text. Its URI escapes
/// every byte that is not ASCII and preserves it. So all other names are converted through the URI.
public final class FileNames {
    private static final HexFormat ESCAPED = HexFormat.of().withUpperCase().withPrefix("%");

    private FileNames() {}

    /// Returns the name of an entry as a path of one element.
    public static Path name(byte[] bytes) {
        if (isAscii(bytes)) {
            return Path.of(new String(bytes, StandardCharsets.US_ASCII));
        }
        return Path.of(URI.create("file:///" + ESCAPED.formatHex(bytes))).getFileName();
    }

    /// Returns the bytes of the absolute path.
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
        // The URI of a directory ends with a slash, which makes the kernel follow a symbolic link.
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
