package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class PromiseTest {
    private final EventLoop loop = EventLoop.open();
    private final List<String> log = new ArrayList<>();

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    @Test
    @Clause("P-1")
    void then_chain_passesValuesOn() {
        Deferred<Integer> deferred = loop.deferred();
        deferred.promise().then(n -> n + 1).then(n -> "got " + n).thenAccept(log::add);
        deferred.resolve(1);
        loop.runUntilEmpty();
        assertThat(log).containsExactly("got 2");
    }

    @Test
    @Clause("P-2")
    void promisify_runsOutsideTheLoopAndSettlesOnIt() {
        Promise<String> name = loop.promisify(c -> Thread.currentThread().toString());
        name.thenAccept(log::add).finallyRun(() -> log.add("" + loop.isLoopThread()));
        loop.runUntilEmpty();
        assertThat(log.getFirst()).contains("VirtualThread");
        assertThat(log.getLast()).isEqualTo("true");
    }
}
