package dev.gyre.internal.sys;

import java.util.ArrayDeque;
import java.util.Deque;

/// The real calls, except for those that are refused.
public final class FaultyTerminals extends FaultyFiles {
    private final Deque<Integer> gets = new ArrayDeque<>();
    private final Deque<Integer> sets = new ArrayDeque<>();

    public FaultyTerminals() {
        super(new FaultyKernel.Plan());
    }

    /// The next `tcgetattr` returns `-errno` and does not reach the kernel.
    public FaultyTerminals refuseGet(int errno) {
        gets.add(-errno);
        return this;
    }

    /// The next `tcsetattr` returns `-errno` and does not reach the kernel.
    public FaultyTerminals refuseSet(int errno) {
        sets.add(-errno);
        return this;
    }

    @Override
    public int tcgetattr(int fd, long termiosAddress) {
        return gets.isEmpty() ? super.tcgetattr(fd, termiosAddress) : gets.remove();
    }

    @Override
    public int tcsetattr(int fd, int when, long termiosAddress) {
        return sets.isEmpty() ? super.tcsetattr(fd, when, termiosAddress) : sets.remove();
    }
}
