package dev.gyre.internal.io;

import java.util.ArrayList;
import java.util.List;

/// The slices of a buffer that is lent for a callback: they end with it.
///
/// Loop thread only.
final class BorrowedSlices {
    private final List<NativeBuffer> slices = new ArrayList<>();

    void add(NativeBuffer slice) {
        slices.add(slice);
    }

    void end(String reason) {
        for (NativeBuffer slice : slices) {
            slice.end(reason);
        }
    }
}
