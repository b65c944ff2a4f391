package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.http.SlowConsumerPolicy;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketMessage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// The members of a [dev.gyre.http.WebSocketGroup] on one loop.
///
/// Loop thread only, unless a method says otherwise.
public final class GroupMembers {
    private final EventLoop loop;
    private final GroupInbox inbox;
    private final SlowConsumerPolicy policy;
    private final long maxQueuedBytes;
    private final Consumer<LoopWebSocket> leaveListener = this::leave;

    // Loop thread only.
    private final List<LoopWebSocket> members = new ArrayList<>();

    /// The index of each member in the list.
    private final Map<LoopWebSocket, Integer> indexes = new HashMap<>();

    // Shared: written by the loop thread.
    private volatile int size;

    // Shared: messages that were lost since the members were last notified. While it is not zero,
    // further messages are lost too: members must not see a gap before the policy applies.
    private final AtomicLong missed = new AtomicLong();

    public GroupMembers(EventLoop loop, SlowConsumerPolicy policy, long maxQueuedBytes) {
        this.loop = loop;
        inbox = WebSocketScratch.of(loop).inbox;
        this.policy = policy;
        this.maxQueuedBytes = maxQueuedBytes;
    }

    /// Returns the loop. Any thread.
    public EventLoop loop() {
        return loop;
    }

    /// Returns the number of members. Any thread.
    public int size() {
        return size;
    }

    /// Returns whether the members ended with their loop. Any thread.
    public boolean isTerminated() {
        return loop.state() == LoopState.TERMINATED;
    }

    public boolean add(LoopWebSocket member) {
        if (!member.isOpen() || indexes.putIfAbsent(member, members.size()) != null) {
            return false;
        }
        members.add(member);
        size = members.size();
        member.addLeaveListener(leaveListener);
        return true;
    }

    public boolean remove(LoopWebSocket member) {
        if (!indexes.containsKey(member)) {
            return false;
        }
        member.removeLeaveListener(leaveListener);
        leave(member);
        return true;
    }

    private void leave(LoopWebSocket member) {
        Integer index = indexes.remove(member);
        if (index != null) {
            LoopWebSocket last = members.removeLast();
            if (last != member) {
                members.set(index, last);
                indexes.put(last, index);
            }
            size = members.size();
        }
    }

    /// Sends a message to all members, after all messages that arrived before.
    ///
    /// @return the number of members that received it and are still writable
    public int send(WebSocketMessage message) {
        inbox.deliverAll();
        return deliver(message);
    }

    private int deliver(WebSocketMessage message) {
        int writable = 0;
        // Backwards: a member that leaves is replaced by the last one, which has the message
        // already.
        for (int i = members.size() - 1; i >= 0; i--) {
            writable += members.get(i).sendInGroup(message, policy, maxQueuedBytes) ? 1 : 0;
        }
        return writable;
    }

    /// Sends a message from another thread. It is lost if too many wait for the loop. Any thread.
    ///
    /// @return whether it was not lost
    /// @throws dev.gyre.LoopTerminatedException if the loop is terminated
    public boolean offer(WebSocketMessage message) {
        if (missed.get() == 0 && inbox.offer(loop, () -> deliver(message), message.length())) {
            return true;
        }
        if (missed.getAndIncrement() == 0) {
            inbox.notify(loop, this::applyPolicy);
        }
        return false;
    }

    private void applyPolicy() {
        long lost = missed.getAndSet(0);
        inbox.warnOfLimit(loop, lost);
        for (int i = members.size() - 1; i >= 0; i--) {
            members.get(i).missedInGroup(lost, policy);
        }
    }

    /// Calls the action with each member, after all messages that arrived before.
    public void forEach(Consumer<? super WebSocket> action) {
        inbox.deliverAll();
        callForEach(action);
    }

    private void callForEach(Consumer<? super WebSocket> action) {
        for (WebSocket each : members.toArray(new WebSocket[0])) {
            action.accept(each);
        }
    }

    /// Calls the action with each member from another thread. Any thread.
    ///
    /// @return false if too many messages wait for the loop
    /// @throws dev.gyre.LoopTerminatedException if the loop is terminated
    public boolean offerForEach(Consumer<? super WebSocket> action) {
        return inbox.offer(loop, () -> callForEach(action), 0);
    }
}
