package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.websocket.LoopSocket;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/// WebSockets that hear the same: a message is encoded once for all of them, and waits once for all that do not keep up.
///
/// ```java
/// var room = new Room();
/// server.webSocket("/chat", socket -> { room.add(socket); socket.onText(room::broadcast); });
/// ```
///
/// A socket leaves when it is closed, or its closing has begun.
///
/// **Who does not keep up** holds nobody up. Messages wait for it up to a limit, which is the room's, whatever
/// [WebSocketConfig#whenSlow] says of those that are sent to it alone: nobody who broadcasts heeds one of many. Above
/// the limit it is closed with 1013, or misses messages. By default it is closed, above 1 MiB.
///
/// **Order.** All hear messages in the order in which they were broadcast; who hears one first is not said.
///
/// **Threads.** Loop thread only; its sockets are of one loop.
public final class Room {
    private static final int MOST_WAITING = 1 << 20;

    // Loop thread only.
    private final List<LoopSocket> members = new ArrayList<>();

    /// Where a member is in the list.
    private final Map<LoopSocket, Integer> places = new HashMap<>();

    private final Consumer<LoopSocket> left = this::leave;
    private final WhenSlow whenSlow;
    private final long mostWaiting;
    private @Nullable EventLoop loop;

    /// A room without sockets, of which those that do not keep up are closed.
    public Room() {
        this(WhenSlow.CLOSE, MOST_WAITING);
    }

    /// A room without sockets.
    ///
    /// @param whenSlow [WhenSlow#CLOSE] or [WhenSlow#DROP]
    /// @param mostWaiting how many bytes may wait for a socket; one message may in any case
    /// @throws IllegalArgumentException if messages are to wait without a limit
    public Room(WhenSlow whenSlow, int mostWaiting) {
        if (whenSlow == WhenSlow.WAIT) {
            throw new IllegalArgumentException(
                    "a room heeds nobody who says no: who does not keep up is closed or misses"
                            + " messages, CLOSE or DROP, not WAIT");
        }
        this.whenSlow = Objects.requireNonNull(whenSlow, "whenSlow");
        this.mostWaiting = Limits.positive("mostWaiting", mostWaiting);
    }

    /// Lets a socket in.
    ///
    /// @return whether it was: false if it is in already, or is not open
    /// @throws IllegalArgumentException if it is of another loop than those that were let in before
    public boolean add(WebSocket socket) {
        LoopSocket member = (LoopSocket) socket;
        if (loop == null) {
            loop = member.loop();
        } else if (!loop.equals(member.loop())) {
            throw new IllegalArgumentException(
                    "the sockets of a room are of one loop: " + member.loop() + " is not " + loop);
        }
        if (!member.isOpen() || places.putIfAbsent(member, members.size()) != null) {
            return false;
        }
        members.add(member);
        member.onLeave(left);
        return true;
    }

    /// Sends a socket out, which stays open.
    ///
    /// @return whether it was in
    public boolean remove(WebSocket socket) {
        LoopSocket member = (LoopSocket) socket;
        if (!places.containsKey(member)) {
            return false;
        }
        member.forget(left);
        leave(member);
        return true;
    }

    private void leave(LoopSocket member) {
        Integer place = places.remove(member);
        if (place != null) {
            LoopSocket last = members.removeLast();
            if (last != member) {
                members.set(place, last);
                places.put(last, place);
            }
        }
    }

    /// Sends a message of text to all.
    ///
    /// @return how many of them keep up: are sent it, and have room for more
    public int broadcast(String text) {
        return members.isEmpty() ? 0 : broadcast(WebSocketMessage.text(text));
    }

    /// Sends a message to all.
    ///
    /// @return as [#broadcast(String)]
    public int broadcast(WebSocketMessage message) {
        Objects.requireNonNull(message, "message");
        int keepUp = 0;
        // From the last to the first: who leaves on being sent to is replaced by one that has been
        // sent to.
        for (int i = members.size() - 1; i >= 0; i--) {
            keepUp += members.get(i).sendAsOneOfMany(message, whenSlow, mostWaiting) ? 1 : 0;
        }
        return keepUp;
    }

    /// How many sockets are in.
    public int size() {
        return members.size();
    }

    /// Calls back for each socket that is in now. Who comes or leaves meanwhile makes no difference.
    public void forEach(Consumer<? super WebSocket> action) {
        for (WebSocket each : members.toArray(new WebSocket[0])) {
            action.accept(each);
        }
    }
}
