package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// A C function linked by [Linkage], with seven words in and one word out regardless of its
/// declaration. Omitted arguments are zero.
///
/// It is a record because the JIT treats record fields as constants: a call through a static final
/// field compiles to the thread-state transition and the native call itself.
///
/// @param returnsInt whether the upper half of the returned word is undefined
record CFunction(MethodHandle handle, boolean returnsInt) {
    private static final long ERRNO_OFFSET =
            Linker.Option.captureStateLayout()
                    .byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    /// Calls the function; the overloads take fewer arguments.
    ///
    /// @param captured memory from [Linkage#newCapture()], used by one thread at a time
    /// @return the result of the function, but `-errno` for -1
    long call(MemorySegment captured, long a, long b, long c, long d, long e, long f, long g) {
        long word = invoke(captured, a, b, c, d, e, f, g);
        long returned = returnsInt ? (int) word : word;
        return returned != -1 ? returned : -captured.get(JAVA_INT, ERRNO_OFFSET);
    }

    private long invoke(
            MemorySegment captured, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return (long) handle.invokeExact(captured, a, b, c, d, e, f, g);
        } catch (Error error) {
            throw error;
        } catch (Throwable thrown) {
            throw new AssertionError("a native call does not throw", thrown);
        }
    }

    long call(MemorySegment captured) {
        return call(captured, 0, 0, 0, 0, 0, 0, 0);
    }

    long call(MemorySegment captured, long a) {
        return call(captured, a, 0, 0, 0, 0, 0, 0);
    }

    long call(MemorySegment captured, long a, long b) {
        return call(captured, a, b, 0, 0, 0, 0, 0);
    }

    long call(MemorySegment captured, long a, long b, long c) {
        return call(captured, a, b, c, 0, 0, 0, 0);
    }

    long call(MemorySegment captured, long a, long b, long c, long d) {
        return call(captured, a, b, c, d, 0, 0, 0);
    }

    long call(MemorySegment captured, long a, long b, long c, long d, long e) {
        return call(captured, a, b, c, d, e, 0, 0);
    }

    long call(MemorySegment captured, long a, long b, long c, long d, long e, long f) {
        return call(captured, a, b, c, d, e, f, 0);
    }
}
