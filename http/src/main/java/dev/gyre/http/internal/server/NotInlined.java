package dev.gyre.http.internal.server;

/// Marks a method that the JIT compiler must not inline: its last parameter is of this type, and
/// always `null`. C2 does not inline a method whose signature names a class that is not loaded, and
/// nothing ever loads this one.
///
/// It keeps the methods small that the compiler must inline between the handles of a request and
/// the handler that uses them ([Dispatcher#dispatch]).
final class NotInlined {
    private NotInlined() {}
}
