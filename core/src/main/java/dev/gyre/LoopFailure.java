package dev.gyre;

/// A loop of a [LoopGroup] that ended with an exception.
///
/// @param loop the name of the loop
/// @param cause the exception
/// @param connections the streams that were open on the loop; they were reset
/// @param replaced whether a new loop replaced it
public record LoopFailure(String loop, Throwable cause, long connections, boolean replaced) {}
