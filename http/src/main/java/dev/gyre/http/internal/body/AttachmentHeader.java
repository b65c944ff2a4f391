package dev.gyre.http.internal.body;

import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.http.internal.message.Texts;

/// Writes `Content-Disposition` of downloads by RFC 6266, with names encoded by RFC 8187.
public final class AttachmentHeader {
    private static final String UNENCODED = "!#$&+-.^_`|~";

    private AttachmentHeader() {}

    /// Returns the header for a download. Names that are not plain ASCII are sent twice: with
    /// underscores for old clients, and encoded.
    ///
    /// @throws IllegalArgumentException if the name is empty or contains control characters
    public static String attachment(String name) {
        if (name.isBlank() || name.chars().anyMatch(c -> c < ' ' || c == 0x7f)) {
            throw new IllegalArgumentException(
                    "a download name must not be empty or contain control characters, but is "
                            + Texts.shown(name));
        }
        StringBuilder header = new StringBuilder("attachment; filename=\"");
        boolean plain = true;
        for (int i = 0; i < name.length(); ) {
            int c = name.codePointAt(i);
            // Clients disagree about escapes, and would decode a percent sign.
            boolean safe = c < 0x7f && "\"\\%/".indexOf(c) < 0;
            header.append(safe ? (char) c : '_');
            plain &= safe;
            i += Character.charCount(c);
        }
        header.append('"');
        if (!plain) {
            header.append("; filename*=UTF-8''").append(PercentEncoding.encode(name, UNENCODED));
        }
        return header.toString();
    }
}
