package dev.gyre.internal.sys;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The real inotify with injected faults: any call, or the watching of any path, can be
/// refused. One thread at a time.
public final class FaultyInotify extends FaultyFiles {
    private final Map<String, Integer> faults = new HashMap<>();
    private final Map<String, Runnable> before = new HashMap<>();
    private final Map<String, Runnable> after = new HashMap<>();

    /// The calls made, as `add /path`, `remove 1` and `init`.
    public final List<String> calls = new ArrayList<>();

    public FaultyInotify() {
        super(new FaultyKernel.Plan());
    }

    /// Calls of that name, or about that path, return `-errno` and do not reach the kernel.
    public FaultyInotify fail(String callOrPath, int errno) {
        faults.put(callOrPath, errno);
        return this;
    }

    /// Removes all faults.
    public FaultyInotify heal() {
        faults.clear();
        return this;
    }

    /// Runs this once, just before that path is watched.
    public FaultyInotify before(String path, Runnable hook) {
        before.put(path, hook);
        return this;
    }

    /// Runs this once, just after that path was watched.
    public FaultyInotify after(String path, Runnable hook) {
        after.put(path, hook);
        return this;
    }

    private static void runIfPresent(Map<String, Runnable> hooks, String path) {
        Runnable hook = hooks.remove(path);
        if (hook != null) {
            hook.run();
        }
    }

    @Override
    public int inotifyInit1(int flags) {
        calls.add("init");
        return faults.containsKey("init") ? -faults.get("init") : super.inotifyInit1(flags);
    }

    @Override
    public int inotifyAddWatch(int fd, byte[] path, int mask) {
        String text = new String(path, StandardCharsets.UTF_8);
        calls.add("add " + text);
        runIfPresent(before, text);
        Integer errno = faults.getOrDefault("add", faults.get(text));
        int result = errno != null ? -errno : super.inotifyAddWatch(fd, path, mask);
        runIfPresent(after, text);
        return result;
    }

    @Override
    public int inotifyRmWatch(int fd, int watch) {
        calls.add("remove " + watch);
        int result = super.inotifyRmWatch(fd, watch);
        return faults.containsKey("remove") ? -faults.get("remove") : result;
    }
}
