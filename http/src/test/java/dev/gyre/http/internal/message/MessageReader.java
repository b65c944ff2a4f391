package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

/// Reads messages as a connection does, with unread bytes before new ones, and records everything
/// parsed in one line of text.
public final class MessageReader {
    static final int MAX_TARGET = 256;
    static final int MAX_HEAD = 1024;
    static final int MAX_FIELDS = 12;
    static final int MAX_TRAILER_FIELDS = 4;
    static final int MAX_TRAILER = 128;

    private enum Part {
        HEAD,
        LENGTH,
        CHUNKS,
        UNTIL_CLOSE,
        REFUSED
    }

    private final RequestHead request = new RequestHead(MAX_TARGET, MAX_HEAD, MAX_FIELDS);
    private final ResponseHead response = new ResponseHead(MAX_HEAD, MAX_FIELDS);
    private final ChunkDecoder chunks = new ChunkDecoder(MAX_TRAILER_FIELDS, MAX_TRAILER);
    private final boolean responses;
    private final Buffer unread;
    private final StringBuilder noted = new StringBuilder();
    private final StringBuilder content = new StringBuilder();

    // Test thread only.
    private Part part = Part.HEAD;
    private long left;

    private MessageReader(boolean responses, String method, int most) {
        this.responses = responses;
        this.unread = Buffer.allocate(Math.max(1, most));
        response.forMethod(method);
    }

    /// Returns a record of requests that arrive in these pieces.
    public static String ofRequests(byte[] bytes, int... cuts) {
        return read(new MessageReader(false, "GET", bytes.length), bytes, cuts);
    }

    /// Returns a record of responses to a method that arrive in these pieces.
    public static String ofResponses(String method, byte[] bytes, int... cuts) {
        return read(new MessageReader(true, method, bytes.length), bytes, cuts);
    }

    /// @param cuts where pieces begin, in ascending order
    private static String read(MessageReader reader, byte[] bytes, int... cuts) {
        int from = 0;
        for (int cut : cuts) {
            reader.arrive(bytes, from, cut - from);
            from = cut;
        }
        reader.arrive(bytes, from, bytes.length - from);
        return reader.end();
    }

    private void arrive(byte[] bytes, int from, int length) {
        unread.compact();
        unread.put(bytes, from, length);
        int before = -1;
        Part was = null;
        while (before != unread.readable() || was != part) {
            before = unread.readable();
            was = part;
            step();
        }
    }

    private void step() {
        switch (part) {
            case HEAD -> head();
            case LENGTH, UNTIL_CLOSE -> {
                int bytes = (int) Math.min(left, unread.readable());
                takeContent(bytes);
                left -= bytes;
                if (left == 0) {
                    message();
                }
            }
            case CHUNKS -> chunk();
            case REFUSED -> unread.clear();
        }
    }

    private void head() {
        int length = responses ? response.parse(unread) : request.parse(unread);
        if (length < 0) {
            refuse(responses ? response.error() : request.error());
        } else if (length > 0) {
            if (responses) {
                noteResponse();
            } else {
                noteRequest();
            }
            unread.skip(length);
        }
    }

    private void noteRequest() {
        noted.append(noted.isEmpty() ? "" : "; ").append(request.method());
        noted.append(request.isMethodKnown() ? " " : "? ").append(request.target());
        noted.append(request.isHttp10() ? " 1.0" : " 1.1");
        noted.append(request.keepsAlive() ? " keep" : " close");
        noted.append(request.expectsContinue() ? " continue" : "");
        noted.append(isUpgrade() ? " upgrade" : "");
        note(request);
        follow(request.isChunked(), request.contentLength());
    }

    private boolean isUpgrade() {
        return request.containsToken("Connection", "upgrade")
                && request.contains("Upgrade")
                && !request.isHttp10();
    }

    private void noteResponse() {
        noted.append(noted.isEmpty() ? "" : "; ").append(response.status());
        noted.append(response.reasonPhrase().isEmpty() ? "" : " ");
        note(response.reasonPhrase());
        noted.append(response.isHttp10() ? " 1.0" : " 1.1");
        noted.append(response.keepsAlive() ? " keep" : " close");
        note(response);
        if (response.isUntilClose()) {
            noted.append(" until-close");
            part = Part.UNTIL_CLOSE;
            left = Long.MAX_VALUE;
        } else {
            follow(response.isChunked(), response.contentLength());
        }
    }

    private void follow(boolean chunked, long length) {
        if (chunked) {
            noted.append(" chunks");
            chunks.reset();
            part = Part.CHUNKS;
        } else if (length > 0) {
            part = Part.LENGTH;
            left = length;
        }
    }

    private void chunk() {
        int bytes = chunks.next(unread);
        if (bytes > 0) {
            // Less than is there, now and then.
            int taken = Math.max(1, bytes - 1);
            takeContent(taken);
            chunks.taken(taken);
        } else if (bytes == ChunkDecoder.REJECTED) {
            noteContent();
            refuse(chunks.error());
        } else if (bytes == ChunkDecoder.END) {
            message();
            if (chunks.trailers().size() > 0) {
                note(chunks.trailers());
            }
        }
    }

    private void takeContent(int bytes) {
        for (int i = 0; i < bytes; i++) {
            content.append((char) (unread.get() & 0xff));
        }
    }

    private void message() {
        noteContent();
        part = Part.HEAD;
    }

    private void noteContent() {
        if (!content.isEmpty()) {
            noted.append(" \"");
            note(content.toString());
            noted.append('"');
            content.setLength(0);
        }
    }

    private void refuse(ParseError refusal) {
        noted.append(noted.isEmpty() ? "" : "; ").append("refused ").append(refusal);
        part = Part.REFUSED;
    }

    private void note(Headers fields) {
        noted.append(" {");
        String[] between = {""};
        fields.forEach(
                (name, value) -> {
                    noted.append(between[0]).append(name).append(": ");
                    note(value);
                    between[0] = ", ";
                });
        noted.append('}');
    }

    private void note(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                noted.append(String.format("\\x%02x", (int) c));
            } else {
                noted.append(c);
            }
        }
    }

    private String end() {
        if (part == Part.UNTIL_CLOSE || part == Part.REFUSED) {
            noteContent();
        } else if (part != Part.HEAD || unread.readable() > 0) {
            noteContent();
            noted.append(noted.isEmpty() ? "" : "; ").append("incomplete");
        }
        return noted.toString();
    }
}
