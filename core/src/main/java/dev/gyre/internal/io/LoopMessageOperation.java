package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.io.Buffer;
import dev.gyre.io.operation.MessageOperation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Consumer;

/// Sends or receives one message with an address.
public final class LoopMessageOperation extends LoopOperation implements MessageOperation {
    private final DatagramIo.Header header = new DatagramIo.Header();

    // Loop thread only.
    private @Nullable NativeBuffer buffer;

    /// Zero if absent.
    private int addressLength;

    LoopMessageOperation(
            LoopOperations operations, OperationPools.Pool<LoopMessageOperation> pool) {
        super(operations, pool);
    }

    public LoopMessageOperation of(
            Opcode opcode,
            OpenDescriptor descriptor,
            Buffer buffer,
            Consumer<? super MessageOperation> callback) {
        init(opcode, descriptor, callback);
        this.buffer = (NativeBuffer) buffer;
        addressLength = 0;
        return this;
    }

    @Override
    void prepare() {
        NativeBuffer given = Objects.requireNonNull(buffer);
        given.lendTo(this);
        if (request.opcode == Opcode.RECEIVE_MESSAGE) {
            if (given.writableBytes() == 0) { // The result would look like an empty message.
                given.endLoan();
                throw new IllegalStateException(
                        this + " has no room to receive into: clear() or compact() the buffer");
            }
            header.fill(given.writeAddress(), given.writableBytes(), Linux.SIZEOF_SOCKADDR_STORAGE);
        } else {
            header.fill(given.readAddress(), given.readableBytes(), addressLength);
        }
        request.address = header.memory.address();
    }

    @Override
    void settle() {
        NativeBuffer given = Objects.requireNonNull(buffer);
        given.endLoan();
        if (request.result < 0) {
            return;
        }
        if (request.opcode == Opcode.RECEIVE_MESSAGE) {
            given.advanceWriteIndex(request.result);
            addressLength = header.addressLength();
        } else {
            given.advanceReadIndex(request.result);
        }
    }

    @Override
    void forget() {
        buffer = null;
    }

    @Override
    public SocketAddress peer() {
        operations.context.requireConfined("peer");
        if (addressLength == 0) {
            throw new IllegalStateException("the message has no address: " + this);
        }
        return SocketAddresses.decode(header.address, addressLength);
    }

    @Override
    public MessageOperation to(SocketAddress peer) {
        operations.context.requireConfined("to");
        if (request.opcode != Opcode.SEND_MESSAGE) {
            throw new IllegalStateException(
                    this + " receives: only a message to send has a destination");
        }
        if (isPending()) {
            throw new IllegalStateException(
                    this + " is pending: set the address after its completion");
        }
        addressLength = SocketAddresses.encode(peer, header.address);
        return this;
    }

    @Override
    public boolean isTruncated() {
        operations.context.requireConfined("isTruncated");
        return header.isTruncated();
    }
}
