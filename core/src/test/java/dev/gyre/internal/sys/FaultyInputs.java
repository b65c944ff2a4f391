package dev.gyre.internal.sys;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The real calls, except for those that are refused; tells which were made.
public final class FaultyInputs implements Inputs {
    private final Inputs real = new LinuxInputs();
    private final Map<String, Integer> refusals = new HashMap<>();
    private final List<String> calls = new ArrayList<>();

    /// All calls of that name return `-errno` and do not reach the kernel.
    public FaultyInputs refuse(String call, int errno) {
        refusals.put(call, errno);
        return this;
    }

    public List<String> calls() {
        return calls;
    }

    private int refusal(String call) {
        calls.add(call);
        return -refusals.getOrDefault(call, 0);
    }

    @Override
    public int open(String path, int flags) {
        int refusal = refusal("open");
        return refusal < 0 ? refusal : real.open(path, flags);
    }

    @Override
    public int statx(int fd, int mask, long statxAddress) {
        int refusal = refusal("statx");
        return refusal < 0 ? refusal : real.statx(fd, mask, statxAddress);
    }

    @Override
    public long recv(int fd, long address, long count, int flags) {
        int refusal = refusal("recv");
        return refusal < 0 ? refusal : real.recv(fd, address, count, flags);
    }
}
