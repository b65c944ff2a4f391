package dev.gyre.metrics;

import java.time.Duration;

/// What a loop runs at the moment.
///
/// @param kind the kind of callback
/// @param description the class of the callback, and for a connection its id, peer and activity
/// @param elapsed how long it has run; in a burst of tasks, how long the burst has run
public record RunningCallback(CallbackKind kind, String description, Duration elapsed) {}
