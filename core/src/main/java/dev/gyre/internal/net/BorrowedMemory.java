package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.Buffer;

import java.util.function.Consumer;

/// A buffer of the user's that is sent as it is, and who is told when it is free again.
record BorrowedMemory(Connection by, NativeBuffer memory, Consumer<? super Buffer> returned)
        implements Runnable {
    static BorrowedMemory to(
            Connection connection, NativeBuffer memory, Consumer<? super Buffer> returned) {
        memory.lendTo(connection);
        return new BorrowedMemory(connection, memory, returned);
    }

    int bytes() {
        return memory.readableBytes();
    }

    /// Tells of it outside of what the connection is doing: a callback that throws is not to stop that half-way.
    void giveBack() {
        memory.endLoan();
        by.streams().tell(this);
    }

    @Override
    public void run() {
        returned.accept(memory);
    }
}
