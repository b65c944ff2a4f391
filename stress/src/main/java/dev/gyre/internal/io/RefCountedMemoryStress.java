package dev.gyre.internal.io;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.sys.NativeBytes;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/// Memory that a buffer and its slices share, released on several threads.
public final class RefCountedMemoryStress {
    private RefCountedMemoryStress() {}

    /// Of the heap: there are millions of them, and what is tested is not the memory.
    private static NativeBytes bytes() {
        return new NativeBytes(MemorySegment.ofArray(new byte[2]));
    }

    /// Catches memory that goes back twice, never, or before the last has let go.
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Back once, with nobody left.")
    @Outcome(expect = FORBIDDEN, desc = "Back twice, never, or too early.")
    @State
    public static class ReleaseAgainstRelease {
        private final AtomicInteger back = new AtomicInteger();
        private final RefCountedMemory piece = new RefCountedMemory(bytes(), back::incrementAndGet);
        private final NativeBuffer buffer = new NativeBuffer(piece);
        private final NativeBuffer slice;

        public ReleaseAgainstRelease() {
            buffer.advanceWriteIndex(2);
            slice = (NativeBuffer) buffer.slice(1);
        }

        @Actor
        public void releaseBuffer() {
            buffer.release();
        }

        @Actor
        public void sliceAndRelease() {
            NativeBuffer second = (NativeBuffer) slice.slice(1);
            slice.release();
            second.release();
        }

        @Arbiter
        public void count(II_Result result) {
            result.r1 = back.get();
            result.r2 = piece.isShared() ? 1 : 0;
        }
    }

    /// Catches a buffer that takes the place of a slice for its own while that is still read.
    @JCStressTest
    @Outcome(id = "7", expect = ACCEPTABLE, desc = "Read before anybody wrote there.")
    @Outcome(expect = FORBIDDEN, desc = "Overwritten while it was the slice's.")
    @State
    public static class ReuseAgainstRead {
        private final NativeBuffer buffer = new NativeBuffer(new RefCountedMemory(bytes(), null));
        private final NativeBuffer slice;

        public ReuseAgainstRead() {
            buffer.put((byte) 7).put((byte) 7);
            slice = (NativeBuffer) buffer.slice(2);
        }

        @Actor
        public void reuse() {
            buffer.clear();
            if (buffer.writable() > 0) {
                buffer.put((byte) 8);
            }
        }

        @Actor
        public void read(I_Result result) {
            result.r1 = slice.get();
            slice.release();
        }
    }
}
