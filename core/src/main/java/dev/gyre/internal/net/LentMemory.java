package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.Buffer;

import java.util.function.Consumer;

/// A buffer of the user's that is sent as it is, and who is told when it is free again.
record LentMemory(NativeBuffer memory, Consumer<? super Buffer> returned) {
    static LentMemory of(NativeBuffer memory, Consumer<? super Buffer> returned, Object to) {
        memory.lend(to);
        return new LentMemory(memory, returned);
    }

    int bytes() {
        return memory.bytesToRead();
    }

    void giveBack() {
        memory.takeBack();
        returned.accept(memory);
    }
}
