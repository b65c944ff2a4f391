package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Collections;
import java.util.Optional;

/// Links functions of the C library as [CFunction]s.
///
/// All of them are linked with one signature, seven words in and one word out. The linker generates
/// some dozen classes for each signature at every start, and with the declared ones a server needs
/// a dozen signatures for its first response.
///
/// The calling conventions of x86-64 and AArch64 allow it. Every argument that is neither a
/// floating-point number nor a struct has a 64-bit register of its own. A function reads the half
/// that it declares, and no register beyond its parameters. Seven words suffice for the longest,
/// `syscall` with a number and six arguments. x86-64 passes six of them in registers and the
/// seventh on the stack, where functions with fewer parameters do not read it. The upper half of an
/// `int` result is undefined and is cut off.
final class Linkage {
    private static final int WORDS = 7;
    private static final FunctionDescriptor SIGNATURE =
            FunctionDescriptor.of(
                    JAVA_LONG, Collections.nCopies(WORDS, JAVA_LONG).toArray(new MemoryLayout[0]));

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    private Linkage() {}

    /// Returns memory that captures errno, for one thread at a time. It is garbage-collected,
    /// because closing a shared arena stops every thread of the process.
    static MemorySegment newCapture() {
        return Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
    }

    /// Links a function that returns `int` or nothing.
    static CFunction intFunction(String name) {
        return new CFunction(link(address(name), ERRNO), true);
    }

    /// Returns empty if the C library lacks the function.
    static Optional<CFunction> findIntFunction(String name) {
        return LINKER.defaultLookup()
                .find(name)
                .map(address -> new CFunction(link(address, ERRNO), true));
    }

    /// Links a function of another library than the C library.
    static CFunction intFunction(SymbolLookup library, String name) {
        MemorySegment address =
                library.find(name)
                        .orElseThrow(() -> new UnsatisfiedLinkError("the library has no " + name));
        return new CFunction(link(address, ERRNO), true);
    }

    /// Links a function that returns `long`, `ssize_t` or a pointer.
    static CFunction longFunction(String name) {
        return new CFunction(link(address(name), ERRNO), false);
    }

    /// Links a variadic function.
    ///
    /// @param fixed the number of arguments before the variable ones
    static CFunction variadicInt(String name, int fixed) {
        return new CFunction(linkVariadic(address(name), fixed), true);
    }

    static CFunction variadicLong(String name, int fixed) {
        return new CFunction(linkVariadic(address(name), fixed), false);
    }

    private static MethodHandle linkVariadic(MemorySegment address, int fixed) {
        // Only Apple's convention for AArch64 passes variable arguments differently. On x86-64
        // callers also pass the number of floating-point arguments in %al, for functions that save
        // those registers. No function here reads any, so every value is right. The variadic option
        // would make a signature of its own.
        return Platform.hasKqueue()
                ? link(address, ERRNO, Linker.Option.firstVariadicArg(fixed))
                : link(address, ERRNO);
    }

    @SuppressWarnings("restricted") // the purpose of this package
    private static MethodHandle link(MemorySegment address, Linker.Option... options) {
        return LINKER.downcallHandle(address, SIGNATURE, options);
    }

    private static MemorySegment address(String name) {
        return LINKER.defaultLookup()
                .find(name)
                .orElseThrow(
                        () ->
                                new UnsatisfiedLinkError(
                                        "the C library has no "
                                                + name
                                                + ": Gyre needs Linux 5.4 or newer"));
    }
}
