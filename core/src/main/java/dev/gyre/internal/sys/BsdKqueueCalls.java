package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// The real calls, through libc; or, where `kqueue` and `kevent` are to come from elsewhere,
/// through the library that the property `gyre.kqueue.library` names, by its path or as the
/// system's loader knows it. What that library is like is said by `gyre.kqueue.flavour`: see
/// [KqueueFlavour]. Both are read once, at first use.
///
/// Handles are static final, as in [LinuxKernel] and for the same reason.
public final class BsdKqueueCalls implements KqueueCalls {
    /// The property that names a library.
    public static final String LIBRARY_PROPERTY = "gyre.kqueue.library";

    /// Longer than `struct stat` is on any of the systems.
    private static final int SIZEOF_STAT = 256;

    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment stat = Memory.allocate(SIZEOF_STAT);
    private final KqueueFlavour flavour;

    private static final class Kqueue {
        static final SymbolLookup LIBRARY = library(System.getProperty(LIBRARY_PROPERTY, ""));
        static final MethodHandle CREATE = Linkage.link(LIBRARY, "kqueue", JAVA_INT);
        static final MethodHandle KEVENT =
                Linkage.link(
                        LIBRARY, "kevent", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG,
                        JAVA_INT, JAVA_LONG);

        @SuppressWarnings("restricted") // this room's purpose
        private static SymbolLookup library(String name) {
            return name.isEmpty()
                    ? Linker.nativeLinker().defaultLookup()
                    : SymbolLookup.libraryLookup(name, Arena.global());
        }
    }

    private static final class Descriptors {
        static final MethodHandle FSTAT =
                // On x86-64 macOS kept the old name for a struct with short inode numbers.
                Linkage.find("fstat$INODE64", JAVA_INT, JAVA_INT, JAVA_LONG)
                        .orElseGet(() -> Linkage.link("fstat", JAVA_INT, JAVA_INT, JAVA_LONG));
        static final MethodHandle PIPE = Linkage.link("pipe", JAVA_INT, JAVA_LONG);
        static final MethodHandle FCNTL =
                Linkage.linkVariadic("fcntl", JAVA_INT, 2, JAVA_INT, JAVA_INT, JAVA_INT);
        static final MethodHandle READ =
                Linkage.link("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle WRITE =
                Linkage.link("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle CLOSE = Linkage.link("close", JAVA_INT, JAVA_INT);
    }

    public BsdKqueueCalls(KqueueFlavour flavour) {
        this.flavour = flavour;
    }

    @Override
    public int kqueue() {
        try {
            return result((int) Kqueue.CREATE.invokeExact(captured));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int kevent(
            int kq,
            long changesAddress,
            int changeCount,
            long eventsAddress,
            int maxEvents,
            long timespecAddress) {
        try {
            return result(
                    (int)
                            Kqueue.KEVENT.invokeExact(
                                    captured,
                                    kq,
                                    changesAddress,
                                    changeCount,
                                    eventsAddress,
                                    maxEvents,
                                    timespecAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fileType(int fd) {
        try {
            int result = result((int) Descriptors.FSTAT.invokeExact(captured, fd, stat.address()));
            long mode = stat.address() + flavour.offsetofStatMode();
            return result < 0 ? result : Memory.getShort(mode) & Kevent.S_IFMT;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int pipe(long pairAddress) {
        try {
            return result((int) Descriptors.PIPE.invokeExact(captured, pairAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        try {
            return result((int) Descriptors.FCNTL.invokeExact(captured, fd, command, argument));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long read(int fd, long address, long count) {
        try {
            return result((long) Descriptors.READ.invokeExact(captured, fd, address, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long write(int fd, long address, long count) {
        try {
            return result((long) Descriptors.WRITE.invokeExact(captured, fd, address, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int close(int fd) {
        try {
            return result((int) Descriptors.CLOSE.invokeExact(captured, fd));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private int result(int returned) {
        return (int) result((long) returned);
    }

    private long result(long returned) {
        return returned != -1
                ? returned
                : -flavour.errno((int) -Linkage.result(captured, returned));
    }
}
