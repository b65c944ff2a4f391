package dev.gyre.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

class LoopOperationTest {
    private final List<String> calls = new ArrayList<>();

    @Test
    @Clause("E-4")
    void multishot_whoseCompletionCannotBeSettled_releasesItsBufferAndContinues() {
        LoopOperations operations =
                new LoopOperations(
                        fake(LoopContext.class),
                        fake(OperationEngine.class),
                        SyscallFactories.LINUX,
                        LoopConfig.DEFAULT);
        LoopReceiveOperation receive = new LoopReceiveOperation(operations, null);
        receive.request.more = true;
        receive.request.result = 5;
        receive.request.buffer = 1;
        calls.clear();
        assertThatThrownBy(() -> receive.onComplete(receive.request))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(calls).containsExactly("buffers", "releaseBuffer", "resume");
    }

    /// Records the calls. Has no memory for buffers.
    private <T> T fake(Class<T> type) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (_, method, _) -> {
                            calls.add(method.getName());
                            if (method.getName().equals("buffers")) {
                                throw new OutOfMemoryError("no view");
                            }
                            return null;
                        }));
    }
}
