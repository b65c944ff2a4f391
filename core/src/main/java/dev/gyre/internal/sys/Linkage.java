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

/// How functions of the C library become [CFunction]s.
///
/// To the linker all of them have one shape, seven words in and one word out: it spins some dozen classes for
/// each shape, at every start, and as C declares them a server needs a dozen shapes for its first answer. The
/// conventions of x86-64 and AArch64 allow it. Whatever is no floating-point number and no struct has a register of 64
/// bits to itself; a function reads the half that it is declared with, and no register that it is not. Seven are what
/// the longest takes, `syscall` with a number and six arguments. x86-64 has six registers for them; the seventh lies
/// on the stack, where no other looks for it. What an `int` leaves in the upper half of its result means nothing, and
/// is cut off.
final class Linkage {
    private static final int WORDS = 7;
    private static final FunctionDescriptor SHAPE =
            FunctionDescriptor.of(
                    JAVA_LONG, Collections.nCopies(WORDS, JAVA_LONG).toArray(new MemoryLayout[0]));

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    private Linkage() {}

    /// Room for errno, for one thread at a time. Automatic memory: closing a shared arena would stop every
    /// thread of the process for it.
    static MemorySegment newCapture() {
        return Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
    }

    /// For functions that return `int` or nothing.
    static CFunction intFunction(String name) {
        return findIntFunction(name).orElseThrow(() -> missing(name));
    }

    /// Empty where the C library has no such function.
    static Optional<CFunction> findIntFunction(String name) {
        return LINKER.defaultLookup()
                .find(name)
                .map(address -> new CFunction(link(address, ERRNO), true));
    }

    /// For functions of another library than the C library.
    static CFunction intFunction(SymbolLookup library, String name) {
        MemorySegment address =
                library.find(name)
                        .orElseThrow(() -> new UnsatisfiedLinkError("the library has no " + name));
        return new CFunction(link(address, ERRNO), true);
    }

    /// For functions that return `long`, `ssize_t` or a pointer.
    static CFunction longFunction(String name) {
        return new CFunction(link(address(name), ERRNO), false);
    }

    /// For functions that take any number of arguments.
    ///
    /// @param fixed how many arguments come before the variable ones
    static CFunction variadicInt(String name, int fixed) {
        return new CFunction(linkVariadic(address(name), fixed), true);
    }

    static CFunction variadicLong(String name, int fixed) {
        return new CFunction(linkVariadic(address(name), fixed), false);
    }

    private static MethodHandle linkVariadic(MemorySegment address, int fixed) {
        // Only Apple's convention for AArch64 has another place for variable arguments. That of
        // x86-64 also has callers say in %al how many floating-point numbers there are, for
        // functions that save those registers; no function here looks for any, so whatever it
        // says is right. To link them as such would make a shape of its own.
        return Platform.hasKqueue()
                ? link(address, ERRNO, Linker.Option.firstVariadicArg(fixed))
                : link(address, ERRNO);
    }

    @SuppressWarnings("restricted") // this room's purpose
    private static MethodHandle link(MemorySegment address, Linker.Option... options) {
        return LINKER.downcallHandle(address, SHAPE, options);
    }

    private static MemorySegment address(String name) {
        return LINKER.defaultLookup().find(name).orElseThrow(() -> missing(name));
    }

    private static UnsatisfiedLinkError missing(String name) {
        return new UnsatisfiedLinkError(
                "the C library has no " + name + ": Gyre needs Linux 5.4 or newer");
    }
}
