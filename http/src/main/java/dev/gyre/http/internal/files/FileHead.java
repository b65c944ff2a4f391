package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.List;

/// The part of a response head that describes a file, rendered once for all responses. Callers must
/// not modify its arrays.
///
/// @param status 200, 206 or 304
/// @param type the media type
/// @param typeLine the `Content-Type` line
/// @param headers alternating names and values of the other headers
/// @param lines the lines of the other headers
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record FileHead(
        int status, String type, byte[] typeLine, List<String> headers, byte[] lines) {
    /// @param headers alternating names and values
    static FileHead of(int status, String type, List<String> headers) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < headers.size(); i += 2) {
            lines.append(headers.get(i)).append(": ").append(headers.get(i + 1)).append("\r\n");
        }
        byte[] typeLine = ("Content-Type: " + type + "\r\n").getBytes(ISO_8859_1);
        byte[] encoded = lines.toString().getBytes(ISO_8859_1);
        return new FileHead(status, type, typeLine, List.copyOf(headers), encoded);
    }

    FileHead notModified() {
        return new FileHead(304, type, typeLine, headers, lines);
    }

    FileHead ofPart(String contentRange) {
        List<String> more = new ArrayList<>(headers);
        more.add("Content-Range");
        more.add(contentRange);
        return of(206, type, more);
    }

    FileHead ofParts(String boundary) {
        return of(206, "multipart/byteranges; boundary=" + boundary, headers);
    }
}
