package dev.gyre.http.internal.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.List;

/// What the head of an answer says of a file, made once for all answers. Immutable.
public final class FileHead {
    private final int status;
    private final String type;
    private final byte[] typeLine;
    private final List<String> fields;
    private final byte[] lines;

    private FileHead(int status, String type, byte[] typeLine, List<String> fields, byte[] lines) {
        this.status = status;
        this.type = type;
        this.typeLine = typeLine;
        this.fields = fields;
        this.lines = lines;
    }

    /// @param fields names and values in turn
    static FileHead of(int status, String type, List<String> fields) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < fields.size(); i += 2) {
            lines.append(fields.get(i)).append(": ").append(fields.get(i + 1)).append("\r\n");
        }
        return new FileHead(
                status,
                type,
                ("Content-Type: " + type + "\r\n").getBytes(ISO_8859_1),
                List.copyOf(fields),
                lines.toString().getBytes(ISO_8859_1));
    }

    /// 200, 206 or 304.
    public int status() {
        return status;
    }

    /// The media type.
    public String type() {
        return type;
    }

    /// The same as a line, not to be changed.
    public byte[] typeLine() {
        return typeLine;
    }

    /// Names and values in turn.
    public List<String> fields() {
        return fields;
    }

    /// The same as lines, not to be changed.
    public byte[] lines() {
        return lines;
    }

    FileHead withStatus(int status) {
        return new FileHead(status, type, typeLine, fields, lines);
    }

    /// That of a part of it.
    FileHead ofPart(String contentRange) {
        List<String> more = new ArrayList<>(fields);
        more.add("Content-Range");
        more.add(contentRange);
        return of(206, type, more);
    }

    /// That of several parts.
    FileHead ofParts(String boundary) {
        return of(206, "multipart/byteranges; boundary=" + boundary, fields);
    }
}
