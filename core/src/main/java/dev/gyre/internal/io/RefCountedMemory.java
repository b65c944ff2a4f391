package dev.gyre.internal.io;

import dev.gyre.internal.sys.NativeBytes;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Memory shared by a buffer and its slices. When the last of them is released, the memory is
/// returned to its owner.
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

    /// Null if the garbage collector frees the memory.
    final @Nullable Owner owner;

    // Shared: written by any thread that has a buffer, hence never incremented from zero.
    private volatile int refCount = 1;

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
                    "capacity must be from 1 to " + MAX_BYTES + ", but is " + capacity);
        }
    }

    /// Adds a reference for another buffer. The caller has one.
    void retain() {
        int _ = (int) REF_COUNT.getAndAdd(this, 1);
    }

    /// Whether buffers other than the caller's use the memory. If not, all their accesses
    /// happen-before the return.
    boolean isShared() {
        return refCount > 1;
    }

    void release() {
        // A sole reference stays sole: only the thread with a buffer can slice it.
        if (refCount > 1 && (int) REF_COUNT.getAndAdd(this, -1) > 1) {
            return;
        }
        if (refCount != 1) {
            refCount = 1; // For the next user.
        }
        if (owner != null) {
            owner.reclaim();
        }
    }
}
