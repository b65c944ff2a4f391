package dev.gyre.internal.io;

import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.AcceptOperation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Consumer;

/// Accepts one connection, or one after the other.
public final class LoopAcceptOperation extends LoopOperation implements AcceptOperation {
    // Loop thread only.
    /// The connection of the last completion until the user takes it.
    private @Nullable OpenDescriptor accepted;

    /// The connection of the last completion, taken or not.
    private @Nullable OpenDescriptor last;

    LoopAcceptOperation(LoopOperations operations, OperationPools.Pool<LoopAcceptOperation> pool) {
        super(operations, pool);
    }

    public LoopAcceptOperation of(
            OpenDescriptor listener,
            boolean multishot,
            Consumer<? super AcceptOperation> callback) {
        init(Opcode.ACCEPT, listener, callback);
        request.multishot = multishot;
        return this;
    }

    public boolean isMultishot() {
        return request.multishot;
    }

    /// Sets whether the next start accepts more than one connection.
    public void multishot(boolean multishot) {
        assert !isPending();
        request.multishot = multishot;
    }

    @Override
    void prepare() {
        // Most servers never ask for the address: peer() queries it on demand.
        request.address = 0;
        request.address2 = 0;
    }

    @Override
    void settle() {
        discard(); // A promised start may have left its connection.
        if (request.result >= 0) {
            OpenDescriptor connection =
                    OpenDescriptor.fresh(operations.syscalls.kernels(), (int) request.result, true);
            FdLifetime listener = Objects.requireNonNull(descriptor).lifetime();
            connection
                    .lifetime()
                    .setTraits(
                            listener.isNonBlocking()
                                    ? listener.traits()
                                    : Traits.SOCKET | Traits.STREAM);
            accepted = connection;
            last = connection;
        }
    }

    @Override
    void discard() {
        if (accepted != null) {
            accepted.close();
            accepted = null;
        }
        last = null;
    }

    @Override
    public Descriptor accepted() {
        operations.context.requireConfined("accepted");
        OpenDescriptor connection = accepted;
        if (connection == null) {
            throw new IllegalStateException(
                    this + " accepted no connection, or accepted() was called before");
        }
        accepted = null;
        return connection;
    }

    @Override
    public SocketAddress peer() {
        operations.context.requireConfined("peer");
        OpenDescriptor connection = last;
        if (connection == null) {
            throw new IllegalStateException(this + " accepted no connection");
        }
        return NativeSockets.peerAddress(operations.syscalls, connection);
    }

    @Override
    public boolean hasMore() {
        operations.context.requireConfined("hasMore");
        return request.more;
    }
}
