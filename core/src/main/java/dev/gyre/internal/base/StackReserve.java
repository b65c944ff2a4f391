package dev.gyre.internal.base;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HexFormat;

/// Ensures that a call has enough stack before it changes anything: clause E-4.
///
/// A StackOverflowError in the middle of a change leaves a partial change. Code without stack
/// cannot undo it, because every call overflows again. So each library call that changes state
/// checks here first. If the stack is too short, the check throws before anything has changed.
/// After it, no chain of library calls that fits the reserve can overflow.
///
/// Library calls use each other: a promise that settles cancels its timer, which wakes a loop. A
/// call that reserved no more than its callees could fail in the middle, in one of them. Hence
/// three sizes. Each one covers call chains that reserve the smaller sizes.
///
/// **How.** HotSpot throws StackOverflowError on method entry only. Each size is a method whose
/// frame is that large, because it has that many local variables. The interpreter compares the
/// frame with the rest of the stack on entry. Compiled code inlines the method and checks, on its
/// own entry, for the frames that the interpreter would need if the method's unlikely branch were
/// taken. That check is one store for each page, so hot code pays neither a call nor a frame.
public final class StackReserve {
    /// The class file of `Frame`, with max_locals as `%04x`. `StackReserveTest` parses it:
    ///
    /// ```
    ///   static boolean unlikely;
    ///   static void enter() {
    ///       if (unlikely) throw null;
    ///   }
    /// ```
    ///
    /// A class file and not a source, because a source would have to name each local.
    static final String FRAME =
            "cafebabe00000045000d01001c6465762f677972652f696e7465726e616c2f626173652f4672616d65"
                    + "070001010008756e6c696b656c790100015a010005656e7465720100032829560c000300"
                    + "0409000200070100106a6176612f6c616e672f4f626a656374070009010004436f646501"
                    + "000d537461636b4d61705461626c6500300002000a000000010008000300040000000100"
                    + "08000500060001000b0000001e0001%04x00000009b2000899000501bfb100000001000c"
                    + "000000030001080000";

    private static final int SLOT_BYTES = 8;
    private static final int SMALL_BYTES = 8 << 10;

    private static final MethodHandle SMALL = frame(SMALL_BYTES);
    private static final MethodHandle MEDIUM = frame(2 * SMALL_BYTES);
    private static final MethodHandle LARGE = frame(4 * SMALL_BYTES);

    private StackReserve() {}

    private static MethodHandle frame(int bytes) {
        try {
            byte[] classFile = HexFormat.of().parseHex(FRAME.formatted(bytes / SLOT_BYTES));
            MethodHandles.Lookup made = MethodHandles.lookup().defineHiddenClass(classFile, true);
            return made.findStatic(made.lookupClass(), "enter", MethodType.methodType(void.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// For calls that change one structure and at most wake a loop: 8 KiB.
    ///
    /// @throws StackOverflowError if less is left
    public static void requireSmall() {
        try {
            SMALL.invokeExact();
        } catch (Throwable e) {
            throw Throwables.rethrow(e);
        }
    }

    /// For calls of loop components such as timers, watchers and operations: 16 KiB.
    ///
    /// @throws StackOverflowError if less is left
    public static void requireMedium() {
        try {
            MEDIUM.invokeExact();
        } catch (Throwable e) {
            throw Throwables.rethrow(e);
        }
    }

    /// For calls that reach several components, such as settling, cancelling and stream calls: 32
    /// KiB.
    ///
    /// @throws StackOverflowError if less is left
    public static void requireLarge() {
        try {
            LARGE.invokeExact();
        } catch (Throwable e) {
            throw Throwables.rethrow(e);
        }
    }
}
