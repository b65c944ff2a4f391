package dev.gyre.internal.io;

import dev.gyre.internal.sys.NativeBytes;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A piece of memory, and how many buffers have it: the first one and its slices. When the last of
/// them is released it goes back to where it came from.
final class RefCountedMemory {
    private static final int MAX_BYTES = 1 << 30;
    private static final VarHandle REF_COUNT;

    static {
        try {
            REF_COUNT =
                    MethodHandles.lookup()
                            .findVarHandle(RefCountedMemory.class, "refCount", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final NativeBytes bytes;

    /// Null if it is nobody's, and left to the garbage collector.
    final @Nullable Owner owner;

    // Shared: changed by any thread that has a buffer of it, hence never up from zero.
    private volatile int refCount = 1;

    /// Where a piece goes when nobody has it any more.
    interface Owner {
        /// Any thread.
        void reclaim();
    }

    RefCountedMemory(NativeBytes bytes, @Nullable Owner lender) {
        this.bytes = bytes;
        this.owner = lender;
    }

    static void requireSize(int capacity) {
        if (capacity < 1 || capacity > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "a buffer has from 1 to " + MAX_BYTES + " bytes, not " + capacity);
        }
    }

    /// Another buffer has it too. The caller has one.
    void retain() {
        int _ = (int) REF_COUNT.getAndAdd(this, 1);
    }

    /// Whether others have it beside the caller. If not, all that they did with it has happened
    /// before.
    boolean isShared() {
        return refCount > 1;
    }

    /// The caller's buffer is released.
    void release() {
        // Who is alone stays alone: only who has a buffer can make another one of it.
        if (refCount > 1 && (int) REF_COUNT.getAndAdd(this, -1) > 1) {
            return;
        }
        if (refCount != 1) {
            refCount = 1; // For whoever gets it next.
        }
        if (owner != null) {
            owner.reclaim();
        }
    }
}
