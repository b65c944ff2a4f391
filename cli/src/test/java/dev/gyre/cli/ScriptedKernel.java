package dev.gyre.cli;

import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.UringCalls;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// A kernel that answers each call as it is told, and notes which were made.
final class ScriptedKernel {
    final List<String> calls = new ArrayList<>();
    private final Map<String, Integer> answers;

    ScriptedKernel(Map<String, Integer> answers) {
        this.answers = answers;
    }

    PollCalls kernel() {
        return of(PollCalls.class);
    }

    UringCalls uring() {
        return of(UringCalls.class);
    }

    private <T> T of(Class<T> seam) {
        return seam.cast(
                Proxy.newProxyInstance(
                        seam.getClassLoader(),
                        new Class<?>[] {seam},
                        (_, method, arguments) -> {
                            boolean closes = method.getName().equals("close");
                            calls.add(method.getName() + (closes ? " " + arguments[0] : ""));
                            return answers.getOrDefault(method.getName(), 0);
                        }));
    }
}
