package dev.gyre.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

import java.net.SocketAddress;

/// The address of an admin server on the command line.
final class AdminOptions {
    /// The default of the clients. Servers have no admin address by default.
    static final String DEFAULT_ADDRESS = "8081";

    private AdminOptions() {}

    /// Parses an address to connect to. A path with a slash is that of a Unix domain socket.
    ///
    /// @throws ParameterException if it is no address
    static SocketAddress parse(CommandSpec spec, String text) {
        try {
            return isPath(text) ? Addresses.unix(text) : Addresses.toReach(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        }
    }

    static boolean isPath(String text) {
        return text.indexOf('/') >= 0 && !text.startsWith("unix:");
    }
}
