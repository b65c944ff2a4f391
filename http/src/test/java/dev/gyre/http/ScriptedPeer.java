package dev.gyre.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/// A server that responds with scripted bytes, valid or not, cut into pieces.
final class ScriptedPeer {
    /// @param cuts the starts of pieces; each is sent a millisecond after the previous one
    /// @param ends whether the connection ends after it
    private record Reply(String text, List<Integer> cuts, boolean ends) {}

    private final EventLoop loop;
    private final Listener listener;
    private final int port;
    private final Deque<Reply> replies = new ArrayDeque<>();
    private final List<String> requests = new ArrayList<>();
    private final List<Stream> streams = new ArrayList<>();
    private String greeting = "";

    ScriptedPeer(EventLoop loop) {
        this.loop = loop;
        listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        this::accept);
        port = ((InetSocketAddress) listener.address()).getPort();
    }

    URI uri(String target) {
        return URI.create("http://127.0.0.1:" + port + target);
    }

    ScriptedPeer reply(String text) {
        return reply(text, false);
    }

    ScriptedPeer replyAndEnd(String text) {
        return reply(text, true);
    }

    ScriptedPeer reply(String text, boolean ends, int... cuts) {
        replies.add(new Reply(text, Arrays.stream(cuts).boxed().toList(), ends));
        return this;
    }

    /// Sends this on each new connection, before any request.
    ScriptedPeer greet(String text) {
        greeting = text;
        return this;
    }

    /// Returns the heads of all requests, in order.
    List<String> requests() {
        return requests;
    }

    /// Returns all connections so far.
    List<Stream> streams() {
        return streams;
    }

    /// Refuses further connections.
    void stopListening() {
        listener.close();
    }

    private void accept(Stream stream) {
        streams.add(stream);
        stream.write(greeting);
        stream.onData(data -> asked(stream, data));
    }

    private void asked(Stream stream, Buffer data) {
        String text = data.getText(ISO_8859_1);
        if (text.contains("\r\n\r\n")) {
            requests.add(text);
            Reply reply = replies.poll();
            if (reply != null) {
                send(stream, reply, 0);
            }
        }
    }

    private void send(Stream stream, Reply reply, int piece) {
        if (!stream.isOpen()) {
            return; // As it may be after half of a bad answer.
        }
        int from = piece == 0 ? 0 : reply.cuts.get(piece - 1);
        boolean last = piece == reply.cuts.size();
        int to = last ? reply.text.length() : reply.cuts.get(piece);
        stream.write(reply.text.substring(from, to).getBytes(ISO_8859_1));
        if (!last) {
            loop.after(Duration.ofMillis(1), _ -> send(stream, reply, piece + 1));
        } else if (reply.ends) {
            stream.end();
        }
    }
}
