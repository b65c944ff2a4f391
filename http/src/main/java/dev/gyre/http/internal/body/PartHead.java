package dev.gyre.http.internal.body;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Texts;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/// The headers of one part.
///
/// @param fileName as sent; empty if the client chose no file; `null` for a text part
record PartHead(String name, @Nullable String fileName, Headers headers) {
    private static final int MAX_FILE_NAME_BYTES = 255;

    /// Parses the lines before an empty line, without that line.
    ///
    /// @param number the position of the part, from 1
    /// @throws HttpException 400 if they are malformed
    static PartHead parse(byte[] bytes, int length, int number) {
        String text = Texts.utf8(ByteBuffer.wrap(bytes, 0, length));
        if (text == null) {
            throw failure(number, "the headers are not UTF-8");
        }
        Headers headers = headers(text, number);
        String disposition = headers.get("Content-Disposition");
        HeaderParameters parsed =
                disposition == null || headers.getAll("Content-Disposition").size() > 1
                        ? null
                        : HeaderParameters.parse(disposition);
        String name = parsed == null ? null : parsed.get("name");
        if (parsed == null || name == null || !parsed.value().equals("form-data")) {
            throw failure(number, "expected the header Content-Disposition: form-data; name=\"…\"");
        }
        String extended = parsed.extended("filename");
        return new PartHead(name, extended == null ? parsed.get("filename") : extended, headers);
    }

    private static Headers headers(String text, int number) {
        Headers.Builder headers = Headers.builder();
        for (int at = 0; at < text.length(); ) {
            int end = text.indexOf("\r\n", at);
            int colon = text.indexOf(':', at);
            if (end < 0 || colon < 0 || colon > end) {
                throw failure(number, "a header line has no colon");
            }
            try {
                // Folded lines fail here, too: their name contains a space.
                headers.add(text.substring(at, colon), text.substring(colon + 1, end).strip());
            } catch (IllegalArgumentException e) {
                throw failure(number, "a header has an invalid name or value");
            }
            at = end + 2;
        }
        return headers.build();
    }

    private static HttpException failure(int number, String problem) {
        return new HttpException(400, "part " + number + ": " + problem);
    }

    /// Returns the file name without directories, control characters and dots at its start.
    String safeFileName() {
        String sent = fileName == null ? "" : fileName;
        String base = sent.substring(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1);
        StringBuilder safe = new StringBuilder();
        int bytes = 0;
        for (int i = 0; i < base.length(); ) {
            int c = base.codePointAt(i);
            String character = Character.toString(c);
            bytes += character.getBytes(UTF_8).length;
            if (bytes > MAX_FILE_NAME_BYTES) {
                break;
            }
            // Format characters reverse or hide what follows, as in names that end in "exe".
            boolean visible =
                    !Character.isISOControl(c)
                            && Character.getType(c) != Character.FORMAT
                            && Character.getType(c) != Character.SURROGATE;
            safe.append(visible ? character : "");
            i += Character.charCount(c);
        }
        int start = 0;
        while (start < safe.length() && (safe.charAt(start) == '.' || safe.charAt(start) == ' ')) {
            start++; // Hidden files such as .htaccess configure servers.
        }
        String name = safe.substring(start).strip();
        return name.isEmpty() ? "file" : name;
    }
}
