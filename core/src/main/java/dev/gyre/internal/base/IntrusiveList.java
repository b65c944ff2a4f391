package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

/// A doubly linked list whose links are fields of the nodes. Adding and removing allocate nothing,
/// and a node is removed from anywhere in constant time. A node is in one list at a time.
///
/// Not thread-safe: confined to its owner, or guarded by the owner's lock.
public final class IntrusiveList<N extends IntrusiveList.Node<N>> {
    public abstract static class Node<N extends Node<N>> {
        @Nullable N next;
        @Nullable N previous;
        @Nullable IntrusiveList<N> list;
    }

    private @Nullable N first;
    private @Nullable N last;

    public boolean isEmpty() {
        return first == null;
    }

    public @Nullable N first() {
        return first;
    }

    /// Returns the node behind a node of this list; null if it is the last one.
    public @Nullable N after(N node) {
        assert node.list == this : "in another list";
        return node.next;
    }

    @SuppressWarnings("ReferenceEquality") // lists are compared by identity
    public boolean contains(N node) {
        return node.list == this;
    }

    /// Appends a node that is in no list.
    public void add(N node) {
        assert node.list == null : "in two lists at once";
        N before = last;
        node.list = this;
        node.previous = before;
        if (before == null) {
            first = node;
        } else {
            before.next = node;
        }
        last = node;
    }

    public @Nullable N poll() {
        N node = first;
        if (node != null) {
            remove(node);
        }
        return node;
    }

    public void remove(N node) {
        assert node.list == this : "in another list";
        N before = node.previous;
        N after = node.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        node.list = null;
        node.previous = null;
        node.next = null;
    }
}
