package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.io.Buffer;
import dev.gyre.io.operation.MessageOperation;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.Objects;
import java.util.function.Consumer;

/// Sends or receives one message with an address.
public final class LoopMessage extends LoopOperation implements MessageOperation {
    private static final int ADDRESS_AT = Linux.SIZEOF_MSGHDR;
    private static final int VECTOR_AT = ADDRESS_AT + Linux.SIZEOF_SOCKADDR_STORAGE;

    /// The header, the address, and the one vector.
    private final NativeBytes memory = NativeBytes.allocate(VECTOR_AT + Linux.SIZEOF_IOVEC);

    private final NativeBytes address = memory.part(ADDRESS_AT, Linux.SIZEOF_SOCKADDR_STORAGE);
    private @Nullable NativeBuffer buffer;
    private int addressLength;

    LoopMessage(LoopOperations operations) {
        super(operations);
    }

    public LoopMessage of(
            Opcode opcode,
            OpenDescriptor descriptor,
            Buffer buffer,
            Consumer<? super MessageOperation> callback) {
        become(opcode, descriptor, (Operation done) -> callback.accept((MessageOperation) done));
        this.buffer = (NativeBuffer) buffer;
        addressLength = 0;
        return this;
    }

    @Override
    void prepare() {
        NativeBuffer given = Objects.requireNonNull(buffer);
        given.lend(this);
        boolean receives = request.opcode == Opcode.RECEIVE_MESSAGE;
        // An empty message can be sent; one cannot be told from no room.
        if (receives && given.bytesToWrite() == 0) {
            given.takeBack();
            throw new IllegalStateException(this + " has no room to receive into");
        }
        long header = memory.address();
        long vector = header + VECTOR_AT;
        Memory.putLong(vector, receives ? given.writingAddress() : given.readingAddress());
        Memory.putLong(
                vector + Linux.OFFSETOF_IOVEC_LEN,
                receives ? given.bytesToWrite() : given.bytesToRead());
        boolean addressed = receives || addressLength > 0;
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_NAME, addressed ? header + ADDRESS_AT : 0);
        Memory.putLong(
                header + Linux.OFFSETOF_MSGHDR_NAMELEN,
                receives ? Linux.SIZEOF_SOCKADDR_STORAGE : addressLength);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_IOV, vector);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_IOVLEN, 1);
        Memory.putLong(header + Linux.OFFSETOF_MSGHDR_FLAGS, 0);
        request.address = header;
    }

    @Override
    void settle() {
        NativeBuffer given = Objects.requireNonNull(buffer);
        given.takeBack();
        if (request.result < 0) {
            return;
        }
        if (request.opcode == Opcode.RECEIVE_MESSAGE) {
            given.filled(request.result);
            addressLength = Memory.getInt(memory.address() + Linux.OFFSETOF_MSGHDR_NAMELEN);
        } else {
            given.emptied(request.result);
        }
    }

    @Override
    void forget() {
        buffer = null;
    }

    @Override
    void returnTo(OperationPools pools) {
        pools.give(this);
    }

    @Override
    public SocketAddress peer() {
        operations.host.requireConfined("peer");
        if (addressLength == 0) {
            throw new IllegalStateException("the message has no address: " + this);
        }
        return SocketAddresses.decode(address, addressLength);
    }

    @Override
    public MessageOperation to(SocketAddress peer) {
        operations.host.requireConfined("to");
        if (request.opcode != Opcode.SEND_MESSAGE) {
            throw new IllegalStateException("a message that is received goes nowhere: " + this);
        }
        if (isPending()) {
            throw new IllegalStateException(this + " is under way: its address belongs to it");
        }
        addressLength = SocketAddresses.encode(peer, address);
        return this;
    }

    @Override
    public boolean isTruncated() {
        operations.host.requireConfined("isTruncated");
        int flags = Memory.getInt(memory.address() + Linux.OFFSETOF_MSGHDR_FLAGS);
        return (flags & Linux.MSG_TRUNC) != 0;
    }
}
