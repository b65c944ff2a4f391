package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.http.internal.websocket.GroupMembers;
import dev.gyre.http.internal.websocket.LoopWebSocket;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// A group of WebSockets that receive the same messages. A message is encoded once for all members,
/// and all members for which it waits share its memory.
///
/// ```java
/// var chat = new WebSocketGroup();
/// server.webSocket("/chat", socket -> { chat.add(socket); socket.onText(chat::broadcast); });
/// ```
///
/// A socket leaves the group when it is closed, or begins to close.
///
/// **Slow consumers** do not slow other members down. Messages wait for a slow member up to the
/// limit of the group. Above it the member is closed with 1013, or misses messages. The group's
/// policy applies, not that of [WebSocketConfig#slowConsumerPolicy()]. Default: it is closed above
/// 1 MiB.
///
/// **Loops.** Members may belong to several loops. Members on the loop of the calling thread
/// receive a message before [#broadcast] returns. Members on other loops receive it when their loop
/// runs next. Messages for a busy loop are queued, up to a quarter of its heap budget over all
/// groups. Beyond that limit the policy applies to all members on that loop: they are closed with
/// 1013, or miss the message. [#dropped()] counts such messages. Members on a terminated loop leave
/// the group.
///
/// **Order.** All members receive the messages of one publisher in the order of its broadcasts. A
/// publisher is a thread, or a socket whose callbacks broadcast. Messages of publishers on
/// different loops may arrive in different order at members on different loops. The order of the
/// members is undefined.
///
/// **Threads.** Any. [#add] and [#remove] only on the loop thread of the socket.
public final class WebSocketGroup {
    private static final int DEFAULT_MAX_QUEUED_BYTES = 1 << 20;
    private static final GroupMembers[] NO_MEMBERS = {};

    private final SlowConsumerPolicy policy;
    private final long maxQueuedBytes;
    private final LongAdder dropped = new LongAdder();

    // Shared: one per loop; replaced under the lock of this group, and never changed.
    private volatile GroupMembers[] byLoop = NO_MEMBERS;

    /// Creates an empty group that closes slow members above 1 MiB.
    public WebSocketGroup() {
        this(SlowConsumerPolicy.CLOSE, DEFAULT_MAX_QUEUED_BYTES);
    }

    /// Creates an empty group.
    ///
    /// @param policy [SlowConsumerPolicy#CLOSE] or [SlowConsumerPolicy#DROP]
    /// @param maxQueuedBytes the maximum of pending bytes per member, at least 1; one message may
    ///     exceed it
    /// @throws IllegalArgumentException for [SlowConsumerPolicy#WAIT], or a limit out of range
    public WebSocketGroup(SlowConsumerPolicy policy, int maxQueuedBytes) {
        if (policy == SlowConsumerPolicy.WAIT) {
            throw new IllegalArgumentException(
                    "a group cannot wait for slow members: use CLOSE or DROP, not WAIT");
        }
        this.policy = Objects.requireNonNull(policy, "policy");
        this.maxQueuedBytes = Limits.positive("maxQueuedBytes", maxQueuedBytes);
    }

    /// Adds a socket. Loop thread of the socket only.
    ///
    /// @return false if it is a member already, or is not open
    public boolean add(WebSocket socket) {
        LoopWebSocket member = (LoopWebSocket) socket;
        member.requireLoopThread("WebSocketGroup", "add");
        GroupMembers known = membersOn(member.loop());
        return (known == null ? addLoop(member.loop()) : known).add(member);
    }

    /// Removes a socket, which stays open. Loop thread of the socket only.
    ///
    /// @return false if it is not a member
    public boolean remove(WebSocket socket) {
        LoopWebSocket member = (LoopWebSocket) socket;
        member.requireLoopThread("WebSocketGroup", "remove");
        GroupMembers known = membersOn(member.loop());
        return known != null && known.remove(member);
    }

    private @Nullable GroupMembers membersOn(EventLoop loop) {
        for (GroupMembers each : byLoop) {
            if (each.loop().equals(loop)) {
                return each;
            }
        }
        return null;
    }

    private synchronized GroupMembers addLoop(EventLoop loop) {
        GroupMembers added = new GroupMembers(loop, policy, maxQueuedBytes);
        byLoop = Stream.concat(alive(), Stream.of(added)).toArray(GroupMembers[]::new);
        return added;
    }

    private synchronized void removeTerminated() {
        byLoop = alive().toArray(GroupMembers[]::new);
    }

    private Stream<GroupMembers> alive() {
        return Arrays.stream(byLoop).filter(each -> !each.isTerminated());
    }

    /// Sends a text message to all members.
    ///
    /// @return as [#broadcast(WebSocketMessage)]
    public int broadcast(String text) {
        return size() == 0 ? 0 : broadcast(WebSocketMessage.text(text));
    }

    /// Sends a message to all members.
    ///
    /// @return the number of members on the loop of this thread that received it and are still
    ///     writable; zero on other threads
    public int broadcast(WebSocketMessage message) {
        Objects.requireNonNull(message, "message");
        GroupMembers own = null;
        for (GroupMembers each : byLoop) {
            if (each.loop().isLoopThread()) {
                own = each; // Last: the other loops start first.
            } else if (each.size() > 0) {
                offer(each, message);
            }
        }
        return own == null ? 0 : own.send(message);
    }

    private void offer(GroupMembers members, WebSocketMessage message) {
        try {
            if (!members.offer(message)) {
                dropped.increment();
            }
        } catch (LoopTerminatedException e) {
            removeTerminated();
        }
    }

    /// Returns the number of members on all loops.
    public int size() {
        int sum = 0;
        for (GroupMembers each : byLoop) {
            sum += each.isTerminated() ? 0 : each.size();
        }
        return sum;
    }

    /// Returns how many messages did not reach a loop, because too many waited for it. A message
    /// counts once per loop. [WebSocket#dropped()] counts messages per member.
    public long dropped() {
        return dropped.sum();
    }

    /// Calls the action with each current member, on the member's loop thread. On a loop thread it
    /// is called with the members of that loop before this method returns. For other loops it is
    /// called soon, after earlier broadcasts of this thread. The action may add and remove the
    /// member.
    ///
    /// @throws LoopOverloadedException if too many messages wait for a loop; the action is called
    ///     for the members on the other loops
    public void forEach(Consumer<? super WebSocket> action) {
        Objects.requireNonNull(action, "action");
        GroupMembers own = null;
        GroupMembers full = null;
        for (GroupMembers each : byLoop) {
            if (each.loop().isLoopThread()) {
                own = each;
            } else if (each.size() > 0 && !offerForEach(each, action)) {
                full = each;
            }
        }
        if (own != null) {
            own.forEach(action);
        }
        if (full != null) {
            throw new LoopOverloadedException(
                    "too many messages of groups wait for loop "
                            + full.loop().config().name()
                            + ": retry later");
        }
    }

    private boolean offerForEach(GroupMembers members, Consumer<? super WebSocket> action) {
        try {
            return members.offerForEach(action);
        } catch (LoopTerminatedException e) {
            removeTerminated();
            return true;
        }
    }
}
