package dev.gyre.internal.sys;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The real inotify with faults put in between: any call, or the watching of any path, can be
/// refused. One thread at a time.
public final class FaultyInotify implements Inotify {
    private final Inotify real = new LinuxInotify();
    private final Map<String, Integer> faults = new HashMap<>();
    private final Map<String, Runnable> before = new HashMap<>();
    private final Map<String, Runnable> after = new HashMap<>();

    /// The calls made, as `add /path`, `remove 1` and `init`.
    public final List<String> calls = new ArrayList<>();

    /// Calls of that name, or about that path, return `-errno` and do not reach the kernel.
    public FaultyInotify fail(String callOrPath, int errno) {
        faults.put(callOrPath, errno);
        return this;
    }

    /// The kernel's own answers again.
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
    public int init1(int flags) {
        calls.add("init");
        return faults.containsKey("init") ? -faults.get("init") : real.init1(flags);
    }

    @Override
    public int addWatch(int fd, byte[] path, int mask) {
        String text = new String(path, StandardCharsets.UTF_8);
        calls.add("add " + text);
        runIfPresent(before, text);
        Integer errno = faults.getOrDefault("add", faults.get(text));
        int result = errno != null ? -errno : real.addWatch(fd, path, mask);
        runIfPresent(after, text);
        return result;
    }

    @Override
    public int rmWatch(int fd, int watch) {
        calls.add("remove " + watch);
        int result = real.rmWatch(fd, watch);
        return faults.containsKey("remove") ? -faults.get("remove") : result;
    }
}
