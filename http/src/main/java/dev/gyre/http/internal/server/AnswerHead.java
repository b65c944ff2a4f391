package dev.gyre.http.internal.server;

import dev.gyre.http.internal.message.FieldList;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// The head of an answer as it was set so far, and how it is put together.
final class AnswerHead {
    private final FieldList fields = new FieldList();

    /// Fields that stay when an error is answered instead.
    private final FieldList lasting = new FieldList();

    // Loop thread only, as far as a blocking handler does not have it.
    private int status;
    private boolean closes;
    private boolean cutOff;
    private boolean hasType;
    private byte[] prepared = Lines.NONE;

    /// Forgets everything: another request begins.
    void reset() {
        lasting.clear();
        begin();
    }

    /// Forgets everything that was set, but for what is to last.
    void begin() {
        status = 200;
        closes = false;
        cutOff = false;
        hasType = false;
        prepared = Lines.NONE;
        fields.clear();
        fields.addAll(lasting);
    }

    int status() {
        return status;
    }

    void status(int status) {
        this.status = status;
    }

    /// The connection is gone.
    ///
    /// @param begun whether a part of the answer was sent
    void lost(boolean begun) {
        cutOff = begun;
        if (!begun) {
            status = Status.PEER_LEFT; // For those who wait for the end.
        }
    }

    boolean isCutOff() {
        return cutOff;
    }

    // ------------------------------------------------------------------ fields

    void set(String name, String value) {
        fields.remove(name);
        add(name, value);
    }

    void add(String name, String value) {
        if (name.equalsIgnoreCase("Transfer-Encoding")) {
            throw new IllegalArgumentException(
                    "how content is transferred is seen to: leave Transfer-Encoding alone");
        }
        if (name.equalsIgnoreCase("Connection") && !value.equalsIgnoreCase("upgrade")) {
            goOn(value);
            return;
        }
        fields.add(name, value);
        hasType |= name.equalsIgnoreCase("Content-Type");
    }

    private void goOn(String option) {
        closes |= option.equalsIgnoreCase("close");
        if (!closes && !option.equalsIgnoreCase("keep-alive")) {
            throw new IllegalArgumentException(
                    "Connection is for close, keep-alive or upgrade, and says: " + option);
        }
    }

    void addLasting(String name, String value) {
        fields.add(name, value);
        lasting.add(name, value);
    }

    void setLasting(String name, String value) {
        fields.set(name, value);
        lasting.set(name, value);
    }

    /// Lines that were made and checked before, at most 4 KiB.
    void prepare(byte[] lines) {
        prepared = lines;
    }

    @Nullable String get(String name) {
        return fields.get(name);
    }

    boolean hasFields() {
        return !fields.isEmpty();
    }

    /// The media type that was set, or else that of a line.
    String typeOf(byte[] line) {
        String set = fields.get("Content-Type");
        return set != null ? set : Lines.typeOf(line);
    }

    /// The length that was set; -1 if none was.
    long length() {
        String said = fields.get("Content-Length");
        return said == null ? -1 : Lines.requireLength(said);
    }

    // ------------------------------------------------------------------ putting it together

    boolean closes() {
        return closes;
    }

    void closeIf(boolean last) {
        closes |= last;
    }

    /// How much room it needs at most.
    int bytes() {
        return Lines.HEAD_ROOM + prepared.length + fields.bytes();
    }

    /// @param type the line of it, unless one is set
    /// @param length of the content; -1 if that is not known, and it comes in chunks, or ends with the connection
    /// @param isContentLeftOut whether none follows whatever its length is
    Buffer put(
            Buffer out,
            Preamble preamble,
            byte[] type,
            long length,
            boolean http10,
            boolean isContentLeftOut) {
        // Without content it is only said how much there would be: the handler knows best, and of
        // 304
        // nobody else does.
        boolean asSet = isContentLeftOut && (length == 0 || status == 304);
        long said = status == 205 ? 0 : asSet ? Math.max(0, length()) : length;
        putPreamble(out, preamble);
        if (!hasType && length != 0 && Status.mayHaveContent(status)) {
            out.put(type);
        }
        out.put(prepared);
        fields.remove("Content-Length");
        fields.put(out);
        Lines.putFraming(out, status, http10, said);
        return Lines.putEnd(out, closes, http10);
    }

    /// Without `Server` and `Date` if a handler has set its own.
    private void putPreamble(Buffer out, Preamble preamble) {
        if (fields.isEmpty()) {
            preamble.put(status, out);
        } else {
            preamble.put(status, out, fields.get("Server") == null, fields.get("Date") == null);
        }
    }

    /// The head of 101: from here on another protocol is spoken.
    void putUpgrade(Buffer out, Preamble preamble, String protocol) {
        status = 101;
        putPreamble(out, preamble);
        fields.put(out);
        out.put("Connection: Upgrade\r\nUpgrade: ").put(protocol).put("\r\n\r\n");
    }
}
