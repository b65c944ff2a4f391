package dev.gyre.http.internal.body;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.HttpException;
import dev.gyre.http.MultipartConfig;
import dev.gyre.io.Buffer;

/// Describes the parts of a body, cut into pieces in a given way.
public final class MultipartReading implements MultipartParser.Handler {
    private final StringBuilder events = new StringBuilder();
    private final StringBuilder data = new StringBuilder();
    private final int room;

    private MultipartReading(int room) {
        this.room = room;
    }

    /// Returns what the parser reports.
    ///
    /// @param cuts where pieces begin
    /// @param room how many bytes the handler accepts at a time
    public static String of(
            String boundary, MultipartConfig config, byte[] body, int[] cuts, int room) {
        MultipartReading reading = new MultipartReading(room);
        MultipartParser parser =
                new MultipartParser(boundary.getBytes(ISO_8859_1), config, reading);
        Buffer piece = Buffer.allocate(body.length + 1);
        try {
            int from = 0;
            for (int i = 0; i <= cuts.length; i++) {
                int to = i == cuts.length ? body.length : cuts[i];
                if (to > from) {
                    parser.parse(piece.clear().put(body, from, to - from));
                    if (piece.readable() > 0) {
                        throw new AssertionError(piece.readable() + " bytes are left");
                    }
                    from = to;
                }
            }
            parser.end();
            reading.events.append("end");
        } catch (HttpException e) {
            // Data before the failure may be reported or not: it is dropped anyway.
            reading.events.append(e.status()).append(' ').append(e.getMessage());
        }
        return reading.events.toString();
    }

    @Override
    public void partBegin(PartHead head) {
        data.setLength(0);
        events.append(head.name()).append('|').append(head.fileName()).append('|');
        events.append(head.headers().toString().replace("\n", ";")).append('|');
    }

    @Override
    public int room() {
        return room;
    }

    @Override
    public void partData(Buffer piece) {
        if (piece.readable() == 0 || piece.readable() > Math.max(room, 74)) {
            throw new AssertionError(piece.readable() + " bytes at once");
        }
        data.append(piece.getText(ISO_8859_1));
    }

    @Override
    public void partEnd() {
        events.append(data).append("\n");
    }
}
