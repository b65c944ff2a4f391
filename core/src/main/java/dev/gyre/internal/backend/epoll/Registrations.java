package dev.gyre.internal.backend.epoll;

import static dev.gyre.internal.sys.Linux.EPOLLET;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLONESHOT;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLPRI;
import static dev.gyre.internal.sys.Linux.EPOLLRDHUP;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_ADD;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_DEL;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_MOD;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_DATA;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_EVENTS;
import static dev.gyre.internal.sys.Linux.SIZEOF_EPOLL_EVENT;

import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Interest;
import dev.gyre.internal.backend.IoHandler;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kernel;
import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Which handler belongs to which descriptor: an array indexed by the descriptor's number.
///
/// The kernel is given number and generation to carry along. The generation changes with every
/// registration, so an event that was collected for an earlier owner of the number finds nobody.
///
/// Changes are made by any thread, under the lock. The loop thread looks entries up without it: an entry
/// is immutable, and published before the kernel hears of it.
final class Registrations {
    private static final int MOST = 1 << 24;

    private record Entry(int generation, IoHandler handler) {}

    private final int epfd;

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private final Kernel kernel;
    private final MemorySegment event = Memory.allocate(SIZEOF_EPOLL_EVENT);
    private int generation;
    private boolean closed;

    // Shared: written under the lock, read by the loop thread without it. The array is replaced
    // when it grows; its elements are accessed through volatile reads of the reference and
    // immutable entries.
    private volatile @Nullable Entry[] entries = new @Nullable Entry[64];

    Registrations(Kernel kernel, int epfd) {
        this.kernel = kernel;
        this.epfd = epfd;
    }

    /// The handler of a collected event, or null if its registration is gone.
    @Nullable IoHandler find(long data) {
        int fd = (int) data;
        @Nullable Entry[] table = entries;
        Entry entry = fd < table.length ? table[fd] : null;
        return entry != null && entry.generation == (int) (data >>> 32) ? entry.handler : null;
    }

    void register(int fd, int interest, IoHandler handler) {
        if (fd < 0 || fd >= MOST) {
            throw new IllegalArgumentException("not a descriptor: " + fd);
        }
        synchronized (lock) {
            requireOpen();
            int next = nextGeneration();
            // Before the kernel hears of it: an edge that came at once would find nobody.
            put(fd, new Entry(next, handler));
            int result = arm(EPOLL_CTL_ADD, fd, next, interest);
            if (result == 0 && isEmpty(interest)) {
                result = probe(fd);
            }
            if (result < 0) {
                remove(fd);
                throw new SystemCallException("epoll_ctl(ADD)", -result, fd);
            }
        }
    }

    void modify(int fd, int interest) {
        synchronized (lock) {
            requireOpen();
            Entry entry = entryOf(fd);
            if (entry == null) {
                return;
            }
            int result = arm(EPOLL_CTL_MOD, fd, entry.generation, interest);
            if (result < 0) {
                throw new SystemCallException("epoll_ctl(MOD)", -result, fd);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // a handler is only itself
    void deregister(int fd, IoHandler handler) {
        synchronized (lock) {
            Entry entry = entryOf(fd);
            if (closed || entry == null || entry.handler != handler) {
                return;
            }
            remove(fd);
            // Our table rules: whether the kernel still knew the descriptor makes no difference.
            int _ = kernel.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
        }
    }

    /// Refuses changes from now on, so that none reaches a descriptor that was given the number of the
    /// closed epoll.
    void close() {
        synchronized (lock) {
            closed = true;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new LoopTerminatedException("the loop is over: its descriptors are released");
        }
    }

    /// Never zero: that marks the loop's own descriptors.
    private int nextGeneration() {
        generation = generation == -1 ? 1 : generation + 1;
        return generation;
    }

    private @Nullable Entry entryOf(int fd) {
        @Nullable Entry[] table = entries;
        return fd >= 0 && fd < table.length ? table[fd] : null;
    }

    private void put(int fd, Entry entry) {
        @Nullable Entry[] table = entries;
        if (fd >= table.length) {
            table = Arrays.copyOf(table, Math.max(fd + 1, table.length * 2));
        }
        table[fd] = entry;
        entries = table; // Release, also of the same array, so that the loop sees the element.
    }

    private void remove(int fd) {
        @Nullable Entry[] table = entries;
        table[fd] = null;
        entries = table;
    }

    /// Tells the kernel, by the operation that is likelier to be right, and by the other one if it is not:
    /// our table cannot tell when a number was closed and opened again, because the kernel then forgot it
    /// silently.
    private int arm(int likely, int fd, int generation, int interest) {
        if (isEmpty(interest)) {
            // Even with an empty mask the kernel would report errors and hang-ups, for ever.
            int _ = kernel.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
            return 0;
        }
        int result = control(likely, fd, generation, interest);
        return switch (-result) {
            case Errno.EEXIST -> control(EPOLL_CTL_MOD, fd, generation, interest);
            case Errno.ENOENT -> control(EPOLL_CTL_ADD, fd, generation, interest);
            default -> result;
        };
    }

    private static boolean isEmpty(int interest) {
        return (interest & (Interest.READ | Interest.WRITE | Interest.URGENT)) == 0;
    }

    /// Whether the kernel can poll it at all: better known now than when interest comes.
    private int probe(int fd) {
        int result = control(EPOLL_CTL_ADD, fd, 0, 0);
        return result < 0 ? result : kernel.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
    }

    private int control(int operation, int fd, int generation, int interest) {
        long address = event.address();
        Memory.putInt(address + OFFSETOF_EPOLL_EVENT_EVENTS, kernelBits(interest));
        Memory.putLong(address + OFFSETOF_EPOLL_EVENT_DATA, ((long) generation << 32) | fd);
        return kernel.epollCtl(epfd, operation, fd, address);
    }

    private static int kernelBits(int interest) {
        int bits = 0;
        if ((interest & Interest.READ) != 0) {
            bits |= EPOLLIN;
        }
        if ((interest & Interest.WRITE) != 0) {
            bits |= EPOLLOUT;
        }
        if ((interest & Interest.URGENT) != 0) {
            bits |= EPOLLPRI;
        }
        if ((interest & Interest.END) != 0) {
            bits |= EPOLLRDHUP;
        }
        if ((interest & Interest.EDGE) != 0) {
            bits |= EPOLLET;
        }
        if ((interest & Interest.ONE_SHOT) != 0) {
            bits |= EPOLLONESHOT;
        }
        return bits;
    }
}
