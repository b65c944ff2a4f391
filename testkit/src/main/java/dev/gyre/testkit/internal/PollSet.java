package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLET;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLONESHOT;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLPRI;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// An epoll with the rules of Linux. An item enters the ready list when its file wakes it for
/// requested readiness, or is ready when added or modified. A wait checks the actual readiness of
/// each item, drops items that are not ready, and moves level-triggered ones to the end.
final class PollSet extends OpenFile {
    private static final int PRIVATE_BITS = EPOLLET | EPOLLONESHOT;

    /// The readiness that a fault may invent. Errors and hang-ups are never invented.
    private static final int MAY_BE_FALSE = EPOLLIN | EPOLLOUT | EPOLLPRI;

    /// An event reported to the application.
    record Event(int ready, long data) {}

    private record Key(int fd, long file) {}

    /// A file polled under a descriptor number.
    static final class Item {
        private final PollSet set;
        private final int fd;
        private final OpenFile file;
        private int mask;
        private long data;
        private boolean listed;

        private Item(PollSet set, int fd, OpenFile file) {
            this.set = set;
            this.fd = fd;
            this.file = file;
        }

        PollSet set() {
            return set;
        }

        private boolean isDisarmed() {
            return (mask & ~PRIVATE_BITS) == 0;
        }

        void woken(int key) {
            if (!isDisarmed() && (key == 0 || (key & mask) != 0)) {
                set.list(this);
            }
        }

        private int readyBits() {
            return isDisarmed() ? 0 : file.ready() & mask;
        }
    }

    // Never iterated over, so its order does not matter.
    private final Map<Key, Item> items = new HashMap<>();
    private Deque<Item> ready = new ArrayDeque<>();

    PollSet(SimulatedKernel kernel) {
        super(kernel, 0);
    }

    /// Implements `epoll_ctl`.
    int control(int operation, int fd, int mask, long data) {
        OpenFile file = kernel.descriptors.find(fd);
        if (file == null) {
            return -Errno.EBADF;
        }
        if (!file.isPollable()) {
            return -Errno.EPERM;
        }
        if (file instanceof PollSet) {
            return -Errno.EINVAL; // Linux allows nesting; it is not simulated.
        }
        Key key = new Key(fd, file.serial);
        Item item = items.get(key);
        switch (operation) {
            case Linux.EPOLL_CTL_ADD -> {
                if (item != null) {
                    return -Errno.EEXIST;
                }
                item = new Item(this, fd, file);
                items.put(key, item);
                file.polled(item);
                arm(item, mask, data);
            }
            case Linux.EPOLL_CTL_MOD -> {
                if (item == null) {
                    return -Errno.ENOENT;
                }
                arm(item, mask, data);
            }
            case Linux.EPOLL_CTL_DEL -> {
                if (item == null) {
                    return -Errno.ENOENT;
                }
                forget(item);
            }
            default -> {
                return -Errno.EINVAL;
            }
        }
        return 0;
    }

    private void arm(Item item, int mask, long data) {
        item.mask = mask | EPOLLERR | EPOLLHUP;
        item.data = data;
        if (item.readyBits() != 0) {
            list(item);
        }
    }

    private void list(Item item) {
        if (!item.listed) {
            item.listed = true;
            ready.add(item);
            wake(EPOLLIN);
        }
    }

    void forget(Item item) {
        items.remove(new Key(item.fd, item.file.serial));
        item.file.unpolled(item);
        if (item.listed) {
            item.listed = false;
            ready.remove(item);
        }
    }

    /// Implements a non-blocking wait.
    List<Event> collect(int max) {
        List<Event> events = new ArrayList<>();
        Deque<Item> candidates = ready;
        ready = new ArrayDeque<>();
        if (kernel.injector.reorders()) {
            candidates = shuffled(candidates);
        }
        while (!candidates.isEmpty() && events.size() < max) {
            Item item = candidates.remove();
            if (kernel.injector.isLate()) {
                reportLater(item);
                continue;
            }
            item.listed = false;
            int bits = item.readyBits();
            if (bits == 0) {
                continue;
            }
            events.add(new Event(bits, item.data));
            if ((item.mask & EPOLLONESHOT) != 0) {
                item.mask &= PRIVATE_BITS;
            } else if ((item.mask & EPOLLET) == 0) {
                list(item);
            }
        }
        while (!candidates.isEmpty()) { // The limit is reached: these come first in the next wait.
            ready.addFirst(candidates.removeLast());
        }
        return events;
    }

    /// Reports an item later. It stays listed, so it is not added twice, but no wait finds it until
    /// then.
    private void reportLater(Item item) {
        kernel.schedule.after(
                kernel.injector.delayNanos(),
                () -> {
                    if (item.listed && isPolled(item)) {
                        item.listed = false;
                        list(item);
                    }
                });
    }

    private boolean isPolled(Item item) {
        return items.get(new Key(item.fd, item.file.serial)) == item;
    }

    private Deque<Item> shuffled(Deque<Item> items) {
        List<Item> order = new ArrayList<>(items);
        kernel.random.shuffle(order);
        return new ArrayDeque<>(order);
    }

    /// Returns an invented event for requested readiness of a descriptor.
    @Nullable Event falseEvent(int fd) {
        OpenFile file = kernel.descriptors.find(fd);
        Item item = file == null ? null : items.get(new Key(fd, file.serial));
        if (item == null || item.listed || (item.mask & EPOLLONESHOT) != 0) {
            return null;
        }
        int bits = item.mask & MAY_BE_FALSE;
        return bits == 0 ? null : new Event(bits, item.data);
    }

    @Override
    int ready() {
        return ready.isEmpty() ? 0 : EPOLLIN;
    }

    @Override
    void closed() {
        for (Item item : List.copyOf(items.values())) {
            item.file.unpolled(item);
        }
        items.clear();
        ready.clear();
    }
}
