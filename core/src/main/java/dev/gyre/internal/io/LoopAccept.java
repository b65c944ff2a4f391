package dev.gyre.internal.io;

import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Consumer;

/// Accepts connections.
public final class LoopAccept extends LoopOperation implements AcceptOperation {
    private @Nullable OpenDescriptor accepted;

    /// The connection that the last completion brought, whoever has it now.
    private @Nullable OpenDescriptor last;

    LoopAccept(LoopOperations operations) {
        super(operations);
    }

    public LoopAccept of(
            OpenDescriptor listener,
            boolean multishot,
            Consumer<? super AcceptOperation> callback) {
        become(
                Opcode.ACCEPT,
                listener,
                (Operation done) -> callback.accept((AcceptOperation) done));
        request.multishot = multishot;
        return this;
    }

    public boolean isMultishot() {
        return request.multishot;
    }

    /// Changes whether the next start accepts more than one connection.
    public void multishot(boolean multishot) {
        assert !isPending();
        request.multishot = multishot;
    }

    @Override
    void prepare() {
        // The address is asked for only when wanted: most servers never do.
        request.address = 0;
        request.address2 = 0;
    }

    @Override
    void settle() {
        discard(); // One that was promised and never taken.
        if (request.result >= 0) {
            OpenDescriptor connection =
                    OpenDescriptor.fresh(operations.seam.kernels(), (int) request.result, true);
            FdLifetime listener = Objects.requireNonNull(descriptor).opening();
            connection
                    .opening()
                    .known(
                            listener.isNonBlocking()
                                    ? listener.traits()
                                    : Traits.SOCKET | Traits.STREAM);
            accepted = connection;
            last = connection;
        }
    }

    @Override
    void finished() {
        // Nobody took it, so nobody would close it.
        discard();
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
    void forget() {
        discard();
    }

    @Override
    void returnTo(OperationPools pools) {
        pools.give(this);
    }

    @Override
    public Descriptor accepted() {
        operations.host.requireConfined("accepted");
        OpenDescriptor connection = accepted;
        if (connection == null) {
            throw new IllegalStateException(
                    "no connection was accepted, or it was taken already: " + this);
        }
        accepted = null;
        return connection;
    }

    @Override
    public SocketAddress peer() {
        operations.host.requireConfined("peer");
        OpenDescriptor connection = last;
        if (connection == null) {
            throw new IllegalStateException("no connection was accepted: " + this);
        }
        return SocketNames.peer(operations.seam, connection);
    }

    @Override
    public boolean hasMore() {
        operations.host.requireConfined("hasMore");
        return request.more;
    }
}
