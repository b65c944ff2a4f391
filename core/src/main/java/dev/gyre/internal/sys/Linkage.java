package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// How functions of the C library become method handles. Each handle's first argument is the memory that
/// errno is captured in, from [#newCapture()]; [#result] makes `-errno` of it.
final class Linkage {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final long ERRNO_OFFSET =
            Linker.Option.captureStateLayout()
                    .byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private Linkage() {}

    /// Room for errno, for one thread at a time. Automatic memory: closing a shared arena would stop every
    /// thread of the process for it.
    static MemorySegment newCapture() {
        return Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
    }

    static int result(MemorySegment captured, int returned) {
        return returned != -1 ? returned : -errno(captured);
    }

    static long result(MemorySegment captured, long returned) {
        return returned != -1 ? returned : -errno(captured);
    }

    private static int errno(MemorySegment captured) {
        return captured.get(JAVA_INT, ERRNO_OFFSET);
    }

    static MethodHandle link(String name, MemoryLayout result, MemoryLayout... arguments) {
        return find(name, result, arguments).orElseThrow(() -> missing(name));
    }

    /// For functions of another library than the C library.
    @SuppressWarnings("restricted") // this room's purpose
    static MethodHandle link(
            SymbolLookup library, String name, MemoryLayout result, MemoryLayout... arguments) {
        MemorySegment address =
                library.find(name)
                        .orElseThrow(() -> new UnsatisfiedLinkError("the library has no " + name));
        return LINKER.downcallHandle(address, FunctionDescriptor.of(result, arguments), ERRNO);
    }

    /// For functions that return nothing.
    @SuppressWarnings("restricted") // this room's purpose
    static MethodHandle linkVoid(String name, MemoryLayout... arguments) {
        MemorySegment address = LINKER.defaultLookup().find(name).orElseThrow(() -> missing(name));
        return LINKER.downcallHandle(address, FunctionDescriptor.ofVoid(arguments), ERRNO);
    }

    /// Empty where the C library has no such function.
    @SuppressWarnings("restricted") // this room's purpose
    static Optional<MethodHandle> find(
            String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.defaultLookup()
                .find(name)
                .map(
                        address ->
                                LINKER.downcallHandle(
                                        address, FunctionDescriptor.of(result, arguments), ERRNO));
    }

    /// For functions that take any number of arguments.
    ///
    /// @param fixed how many arguments come before the variable ones
    @SuppressWarnings("restricted") // this room's purpose
    static MethodHandle linkVariadic(
            String name, MemoryLayout result, int fixed, MemoryLayout... arguments) {
        MemorySegment address = LINKER.defaultLookup().find(name).orElseThrow(() -> missing(name));
        return LINKER.downcallHandle(
                address,
                FunctionDescriptor.of(result, arguments),
                ERRNO,
                Linker.Option.firstVariadicArg(fixed));
    }

    /// A method handle declares Throwable; what can really come is an error of the JVM itself.
    static Error unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        throw new AssertionError("a native call does not throw", thrown);
    }

    private static UnsatisfiedLinkError missing(String name) {
        return new UnsatisfiedLinkError(
                "the C library has no " + name + ": Gyre needs Linux 5.4 or newer");
    }
}
