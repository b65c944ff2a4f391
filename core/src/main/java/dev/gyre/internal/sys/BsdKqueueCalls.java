package dev.gyre.internal.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/// The real calls, through libc. The property `gyre.kqueue.library` makes `kqueue` and `kevent`
/// come from another library, named by its path or as the system's loader knows it. The property
/// `gyre.kqueue.flavour` describes that library: see [KqueueFlavour]. Both are read once, at first
/// use.
///
/// Functions are static final: see [CFunction].
public final class BsdKqueueCalls implements KqueueCalls {
    public static final String LIBRARY_PROPERTY = "gyre.kqueue.library";

    /// Larger than `struct stat` on all of these systems.
    private static final int SIZEOF_STAT = 256;

    // One thread at a time: the owner of this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment stat = Memory.allocate(SIZEOF_STAT);
    private final KqueueFlavour flavour;

    private static final class Kqueue {
        static final SymbolLookup LIBRARY = library(System.getProperty(LIBRARY_PROPERTY, ""));
        static final CFunction CREATE = Linkage.intFunction(LIBRARY, "kqueue");
        static final CFunction KEVENT = Linkage.intFunction(LIBRARY, "kevent");

        @SuppressWarnings("restricted") // the purpose of this package
        private static SymbolLookup library(String name) {
            return name.isEmpty()
                    ? Linker.nativeLinker().defaultLookup()
                    : SymbolLookup.libraryLookup(name, Arena.global());
        }
    }

    private static final class Descriptors {
        static final CFunction FSTAT =
                // On x86-64 macOS uses the plain name for a struct with short inode numbers.
                Linkage.findIntFunction("fstat$INODE64")
                        .orElseGet(() -> Linkage.intFunction("fstat"));
        static final CFunction PIPE = Linkage.intFunction("pipe");
        static final CFunction FCNTL = Linkage.variadicInt("fcntl", 2);
        static final CFunction READ = Linkage.longFunction("read");
        static final CFunction WRITE = Linkage.longFunction("write");
        static final CFunction CLOSE = Linkage.intFunction("close");
    }

    public BsdKqueueCalls(KqueueFlavour flavour) {
        this.flavour = flavour;
    }

    @Override
    public int kqueue() {
        return result((int) Kqueue.CREATE.call(captured));
    }

    @Override
    public int kevent(
            int kq,
            long changesAddress,
            int changeCount,
            long eventsAddress,
            int maxEvents,
            long timespecAddress) {
        return result(
                (int)
                        Kqueue.KEVENT.call(
                                captured,
                                kq,
                                changesAddress,
                                changeCount,
                                eventsAddress,
                                maxEvents,
                                timespecAddress));
    }

    @Override
    public int fileType(int fd) {
        int result = result((int) Descriptors.FSTAT.call(captured, fd, stat.address()));
        long mode = stat.address() + flavour.offsetofStatMode();
        return result < 0 ? result : Memory.getShort(mode) & Kevent.S_IFMT;
    }

    @Override
    public int pipe(long pairAddress) {
        return result((int) Descriptors.PIPE.call(captured, pairAddress));
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        return result((int) Descriptors.FCNTL.call(captured, fd, command, argument));
    }

    @Override
    public long read(int fd, long address, long count) {
        return result(Descriptors.READ.call(captured, fd, address, count));
    }

    @Override
    public long write(int fd, long address, long count) {
        return result(Descriptors.WRITE.call(captured, fd, address, count));
    }

    @Override
    public int close(int fd) {
        return result((int) Descriptors.CLOSE.call(captured, fd));
    }

    private int result(int returned) {
        return (int) result((long) returned);
    }

    private long result(long returned) {
        return returned >= 0 ? returned : -flavour.errno((int) -returned);
    }
}
