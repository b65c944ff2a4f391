package dev.gyre.http.internal.server;

import dev.gyre.http.internal.message.HeaderList;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// The head of a response: status and headers as set so far, and their encoding.
final class ResponseHeadWriter {
    private final HeaderList fields = new HeaderList();

    /// Headers that middleware set before the handler ran. They survive error responses.
    private final HeaderList sticky = new HeaderList();

    // Loop thread only, or that of a blocking handler which owns a copy.
    private int status;
    private boolean closes;
    private boolean cutOff;
    private boolean hasType;
    private boolean marked;
    private byte[] prepared = HeaderLines.EMPTY;

    /// Discards everything, for the next request.
    void reset() {
        marked = false;
        sticky.clear();
        clear();
    }

    /// Returns a copy that another thread may change.
    ResponseHeadWriter copy() {
        ResponseHeadWriter copy = new ResponseHeadWriter();
        copy.status = status;
        copy.closes = closes;
        copy.hasType = hasType;
        copy.marked = marked;
        copy.prepared = prepared;
        copy.fields.addAll(fields);
        copy.sticky.addAll(sticky);
        return copy;
    }

    /// Discards everything except the headers that middleware set before the handler ran. If the
    /// handler has not run, that is every header except those that describe a body.
    void restart() {
        markMiddlewareHeaders();
        clear();
        fields.addAll(sticky);
    }

    private void clear() {
        status = 200;
        closes = false;
        cutOff = false;
        hasType = false;
        prepared = HeaderLines.EMPTY;
        fields.clear();
    }

    /// Makes the headers set so far survive an error response. Only the first call counts.
    void markMiddlewareHeaders() {
        if (marked) {
            return;
        }
        marked = true;
        if (!fields.isEmpty()) {
            sticky.addAll(fields);
            HeaderLines.OF_THE_BODY.forEach(sticky::remove);
        }
    }

    int status() {
        return status;
    }

    void status(int status) {
        this.status = status;
    }

    /// Called when the connection is lost.
    ///
    /// @param begun whether a part of the response was sent
    void lost(boolean begun) {
        cutOff = begun;
        if (!begun) {
            status = Status.CLIENT_CLOSED_REQUEST; // For onComplete callbacks.
        }
    }

    boolean isTruncated() {
        return cutOff;
    }

    void set(String name, String value) {
        fields.remove(name);
        add(name, value);
    }

    void add(String name, String value) {
        if (name.equalsIgnoreCase("Transfer-Encoding")) {
            throw new IllegalArgumentException(
                    "the server sets Transfer-Encoding: remove it, and use stream() for chunks");
        }
        if (name.equalsIgnoreCase("Connection") && !value.equalsIgnoreCase("upgrade")) {
            setConnection(value);
            return;
        }
        fields.add(name, value);
        hasType |= name.equalsIgnoreCase("Content-Type");
    }

    private void setConnection(String option) {
        closes |= option.equalsIgnoreCase("close");
        if (!closes && !option.equalsIgnoreCase("keep-alive")) {
            throw new IllegalArgumentException(
                    "Connection must be close, keep-alive or upgrade, not " + option);
        }
    }

    /// Sets a header that survives an error response.
    void setSticky(String name, String value) {
        markMiddlewareHeaders();
        fields.set(name, value);
        sticky.set(name, value);
    }

    /// Sets header lines that were formatted and checked before, at most 4 KiB.
    void prepare(byte[] lines) {
        prepared = lines;
    }

    @Nullable String get(String name) {
        return fields.get(name);
    }

    boolean hasHeaders() {
        return !fields.isEmpty();
    }

    /// Returns the media type; default that of the line.
    String typeOf(byte[] line) {
        String set = fields.get("Content-Type");
        return set != null ? set : HeaderLines.typeOf(line);
    }

    /// Returns the Content-Length that is set; -1 if absent.
    long length() {
        String length = fields.get("Content-Length");
        return length == null ? -1 : HeaderLines.requireLength(length);
    }

    boolean closes() {
        return closes;
    }

    void closeIf(boolean last) {
        closes |= last;
    }

    /// Returns the max number of encoded bytes.
    int bytes() {
        return HeaderLines.HEAD_RESERVE_BYTES + prepared.length + fields.bytes();
    }

    /// @param type the Content-Type line, unless one is set
    /// @param length of the body; -1 if unknown: chunked, or delimited by the end of the connection
    /// @param isBodyOmitted whether no body follows, whatever its length
    Buffer put(
            Buffer out,
            StatusAndDateCache statusAndDate,
            byte[] type,
            long length,
            boolean http10,
            boolean isBodyOmitted) {
        // Without a body the length is that of the body to GET, which only the handler knows.
        boolean asSet = isBodyOmitted && (length == 0 || status == 304);
        long announced = status == 205 ? 0 : asSet ? Math.max(0, length()) : length;
        putStatusLine(out, statusAndDate);
        if (!hasType && length != 0 && Status.mayHaveBody(status)) {
            out.put(type);
        }
        out.put(prepared);
        fields.remove("Content-Length");
        fields.put(out);
        HeaderLines.putFraming(out, status, http10, announced);
        return HeaderLines.putEnd(out, closes, http10);
    }

    /// Without `Server` and `Date` if a handler has set its own.
    private void putStatusLine(Buffer out, StatusAndDateCache statusAndDate) {
        if (fields.isEmpty()) {
            statusAndDate.put(status, out);
        } else {
            statusAndDate.put(
                    status, out, fields.get("Server") == null, fields.get("Date") == null);
        }
    }

    /// Puts the head of 101.
    void putUpgrade(Buffer out, StatusAndDateCache statusAndDate, String protocol) {
        status = 101;
        putStatusLine(out, statusAndDate);
        fields.put(out);
        out.put("Connection: Upgrade\r\nUpgrade: ").put(protocol).put("\r\n\r\n");
    }
}
